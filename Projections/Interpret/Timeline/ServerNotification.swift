package import Events

/// An announcement by Apple about a subscription, counted once however often it was sent.
package struct ServerNotification: Sendable {
    /// Apple's id of the announcement, equal in every retry; empty in version 1, which has none.
    package let notificationUUID: String
    /// When Apple last signed it.
    package let asOf: Instant
    /// Apple's word for what happened; empty if there is none.
    package let notificationType: String
    /// Apple's word for why; empty if there is none.
    package let subtype: String
    /// Start of the purchase it is about, in whole seconds; nil if it is not about one.
    package let purchaseDate: Instant?
    /// End of that purchase as stated in the announcement; nil if it is not about a purchase that
    /// expires.
    package let expiresDate: Instant?
    /// Apple's status of the subscription as of the announcement; nil if not stated (Apple's data:
    /// status values).
    package let status: SubscriptionStatus?
    /// Why the customer requests a refund, in Apple's `consumptionRequestReason`; nil if not stated
    /// (developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason).
    package let consumptionRequestReason: String?
    /// The offset of the first event that contains it.
    package let offset: Int64

    /// The largest difference, in milliseconds, between the signing times of the parts of one
    /// payload: a second.
    static let signingSpread: Int64 = 1000
}

extension Timeline {
    private static let notificationsKey = FoldMemo.Key<[ServerNotification]>()

    /// Apple's announcements, by as-of, then by UUID and type.
    package var notifications: [ServerNotification] {
        once(Timeline.notificationsKey) { foldedNotifications }
    }

    private var foldedNotifications: [ServerNotification] {
        let ordered = announcements.map { (name: $0.assertion.name, keyed: $0) }.sorted {
            if let isFirst = byBytes($0.name, $1.name) { return isFirst }
            return Assertions.areInOrder($0.keyed.assertion, $1.keyed.assertion)
        }
        var notifications: [ServerNotification] = []
        var start = ordered.startIndex
        while start < ordered.endIndex {
            var end = start + 1
            while end < ordered.endIndex, byBytes(ordered[start].name, ordered[end].name) == nil {
                end += 1
            }
            notifications.append(ServerNotification(ordered[start..<end].map(\.keyed)))
            start = end
        }
        return notifications.ordered { left, right in
            if left.asOf != right.asOf { return left.asOf < right.asOf }
            return byBytes(left.notificationUUID, right.notificationUUID)
                ?? byBytes(left.notificationType, right.notificationType) ?? false
        }
    }
}

extension Assertion {
    // Version 1 has no ids, so an announcement is identified by type and as-of.
    fileprivate var name: String {
        if let uuid = content.text(.notificationUUID) { return uuid }
        return "\(asOf.milliseconds) \(content.text(.notificationType) ?? "")"
    }
}

extension ServerNotification {
    // All assertions of one announcement, in order.
    fileprivate init(_ assertions: [KeyedAssertion]) {
        let known = Assertions(inOrder: assertions.map(\.assertion)[...])
        notificationUUID = known.text(.notificationUUID)
        asOf = known.sorted.last?.asOf ?? Instant(milliseconds: 0)
        notificationType = known.text(.notificationType)
        subtype = known.text(.subtype)
        let epoch = Instant(milliseconds: 0)
        // Retries repeat the same bytes; should two differ, the later dates count in any order.
        purchaseDate = assertions.map(\.purchaseDate).max().flatMap { $0 == epoch ? nil : $0 }
        expiresDate = assertions.map(\.expiresDate).max().flatMap { $0 == epoch ? nil : $0 }
        if case .value(.integer(let raw)) = known.state(of: .status) {
            status = SubscriptionStatus(rawValue: raw)
        } else {
            status = nil
        }
        let reason = known.text(.consumptionRequestReason)
        consumptionRequestReason = reason.isEmpty ? nil : reason
        offset = known.sorted.reduce(Int64.max) { min($0, $1.offset) }
    }
}

extension Timeline {
    /// Index of the purchase that an announcement is about; nil if it is not about any of these.
    ///
    /// By its start. Of two in the same second, it is the one that ever had the announced expiry,
    /// which an extension may have moved since (Apple's data: trap 7); if that does not decide, the
    /// one that remained. What is about an addition of seats is about its period.
    package func purchase(of notification: ServerNotification) -> Int? {
        notification.purchaseDate.flatMap {
            purchase(startingAt: $0, expiring: notification.expiresDate)
        }
    }

    /// The same by the dates that an announcement states.
    func purchase(startingAt start: Instant, expiring end: Instant?) -> Int? {
        let candidates = purchases[startingAt: start].indices
        return candidates.last { purchases[$0].everExpired(on: end) }
            ?? candidates.last
            ?? purchases.lastIndex { purchase in
                purchase.additions.contains { $0.purchaseDate == start }
            }
    }
}

extension Purchase {
    /// Whether that was its expiry at any time; an extension changes it.
    func everExpired(on date: Instant?) -> Bool {
        expiresDate == date || extensions.contains { $0.from == date }
    }
}

extension Assertions {
    fileprivate func text(_ field: Field) -> String {
        if case .value(.text(let text)) = state(of: field) { text } else { "" }
    }
}
