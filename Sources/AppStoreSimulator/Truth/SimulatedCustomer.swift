package import Events

/// One customer with several subscriptions, known to the app by one token.
package struct SimulatedCustomer: Sendable {
    /// What is special about the customer.
    package enum Situation: String, CaseIterable, Hashable, Sendable {
        /// Subscriptions of two groups in parallel (Apple's data: trap 36: lite and standard).
        case twoGroups
        /// A second subscription of the same group, bought while the first was in billing retry,
        /// with its own original id (Apple's data: trap 3).
        case secondStream
        /// A subscription of their own, and another one as a member of a family (Apple's data: trap
        /// 33).
        case familyMember
        /// The developer set another token later (Apple's data: transactions).
        case changedToken
        /// Restored on a second account of the app, which also claims the purchase (Apple's data:
        /// trap 37).
        case claimedTwice
    }

    /// The claim of another account of the app that a subscription belongs to it.
    package struct Claim: Hashable, Sendable {
        /// The token of that account.
        package let appAccountToken: String
        /// The subscription.
        package let originalTransactionId: String
        /// When it was restored on that account.
        package let claimedAt: Instant
    }

    /// The special situation.
    package let situation: Situation
    /// The developer's own id of the customer, a UUID in lower case, as in every purchase.
    package let appAccountToken: String
    /// The subscriptions, each a separate stream.
    package let lives: [SubscriptionLife]
    /// The claims of other accounts.
    package let claims: [Claim]

    /// The groups of the subscriptions, in ascending order.
    package var groups: [String] {
        Set(lives.compactMap(\.group)).sorted()
    }

    /// The intervals with access to a group through any of the subscriptions, once all is
    /// delivered.
    package func active(inGroup group: String) -> [AccessInterval] {
        AccessInterval.union(of: lives.filter { $0.group == group }.flatMap(\.periods))
    }

    /// The same for a reader who knows what had happened by an instant.
    package func active(inGroup group: String, asOf instant: Instant) -> [AccessInterval] {
        let lives = lives.filter { $0.group == group }
        return AccessInterval.union(of: lives.flatMap { $0.periods(asOf: instant) })
    }

    /// Whether there is access to a group at an instant, once all is delivered.
    package func hasAccess(toGroup group: String, at instant: Instant) -> Bool {
        active(inGroup: group).contains { $0.from <= instant && instant < $0.to }
    }

    /// The app receipts of the customer's device, each with the purchases of all subscriptions:
    /// one receipt is one Apple Account in one app (Apple's data: app receipts).
    package func appReceipts(form: AppReceiptForm = []) -> [Delivery] {
        lives.first?.appReceipts(form: form, including: Array(lives.dropFirst())) ?? []
    }

    /// Everything that arrives unasked about the subscriptions, by signing date.
    package func deliveries() -> [Delivery] {
        lives.flatMap { $0.deliveries() }.sorted { $0.signedAt < $1.signedAt }
    }
}

extension SubscriptionLife {
    /// Apple's id of the subscription group; nil before anything was bought.
    package var group: String? { chapters.last?.state.newest?.product.group }
}
