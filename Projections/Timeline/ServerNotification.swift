public import Events

/// Something Apple announced about a subscription, told once however often it was sent.
public struct ServerNotification: Sendable {
    /// Apple's id of the announcement, equal in every retry; empty in version 1, which has none.
    public let notificationUUID: String
    /// When Apple signed it last.
    public let asOf: Instant
    /// Apple's word for what happened; empty where there is none.
    public let notificationType: String
    /// Apple's word for why; empty where there is none.
    public let subtype: String
    /// The offset of the first event that holds it.
    public let offset: Int64
}

extension Timeline {
    /// What Apple announced, by as-of, then by UUID and type.
    public var notifications: [ServerNotification] {
        // The stable sort keeps the order of as-of within one UUID.
        let ordered = announcements.sorted.sorted { byBytes($0.name, $1.name) ?? false }
        var notifications: [ServerNotification] = []
        var start = ordered.startIndex
        while start < ordered.endIndex {
            var end = start + 1
            while end < ordered.endIndex, byBytes(ordered[start].name, ordered[end].name) == nil {
                end += 1
            }
            let known = Assertions(inOrder: ordered[start..<end])
            notifications.append(ServerNotification(known))
            start = end
        }
        notifications.sort { left, right in
            if left.asOf != right.asOf { return left.asOf < right.asOf }
            return byBytes(left.notificationUUID, right.notificationUUID)
                ?? byBytes(left.notificationType, right.notificationType) ?? false
        }
        return notifications
    }
}

extension Assertion {
    // Version 1 has no ids: there an announcement is a type at an as-of.
    fileprivate var name: String {
        if let uuid = content.text(.notificationUUID) { return uuid }
        return "\(asOf.milliseconds) \(content.text(.notificationType) ?? "")"
    }
}

extension ServerNotification {
    fileprivate init(_ known: Assertions) {
        notificationUUID = known.text(.notificationUUID)
        asOf = known.sorted.last?.asOf ?? Instant(milliseconds: 0)
        notificationType = known.text(.notificationType)
        subtype = known.text(.subtype)
        offset = known.sorted.reduce(Int64.max) { min($0, $1.offset) }
    }
}

extension Assertions {
    fileprivate func text(_ field: Field) -> String {
        if case .value(.text(let text)) = state(of: field) { text } else { "" }
    }
}
