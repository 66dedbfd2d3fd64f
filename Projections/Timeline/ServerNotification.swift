public import Events

/// Something Apple announced about a subscription, told once however often it was sent.
public struct ServerNotification: Sendable {
    /// Apple's id of the announcement; equal in every retry.
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
    /// What Apple announced, by as-of, then by UUID.
    public var notifications: [ServerNotification] {
        // The stable sort keeps the order of as-of within one UUID.
        let ordered = announcements.sorted.sorted { byBytes($0.uuid, $1.uuid) ?? false }
        var notifications: [ServerNotification] = []
        var start = ordered.startIndex
        while start < ordered.endIndex {
            var end = start + 1
            while end < ordered.endIndex, byBytes(ordered[start].uuid, ordered[end].uuid) == nil {
                end += 1
            }
            let known = Assertions(inOrder: ordered[start..<end])
            notifications.append(ServerNotification(ordered[start].uuid, known))
            start = end
        }
        notifications.sort { left, right in
            if left.asOf != right.asOf { return left.asOf < right.asOf }
            return byBytes(left.notificationUUID, right.notificationUUID) ?? false
        }
        return notifications
    }
}

extension Assertion {
    fileprivate var uuid: String { content.text(.notificationUUID) ?? "" }
}

extension ServerNotification {
    fileprivate init(_ notificationUUID: String, _ known: Assertions) {
        self.notificationUUID = notificationUUID
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
