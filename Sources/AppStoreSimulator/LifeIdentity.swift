import Events

/// The identity of a life: what all payloads of a subscription have in common.
package struct LifeIdentity: Hashable, Sendable {
    /// The seed of the simulation.
    package let seed: UInt64
    /// The number of the life in that simulation, below 10^9; no two lives of a seed share an id.
    package let index: Int64
    /// Where the customer buys.
    package let storefront: SimulatedStorefront
    /// On what ground the customer has access.
    package let ownership: Ownership
    /// The bundle or suite that the subscription is a part of; nil for one sold alone.
    package let bundle: SimulatedBundle?
    /// The subscription that this one replaced when the customer moved into a bundle or out of it.
    package let previousOriginalTransactionId: String?
    /// The developer's own id of the customer, if the app gave one.
    package let appAccountToken: String?
    /// Apple's id of the customer and the app.
    package let appTransactionId: String

    /// On what ground a customer has access; the raw values are Apple's `inAppOwnershipType`.
    package enum Ownership: String, CaseIterable, Hashable, Sendable {
        /// Bought by the customer.
        case purchased = "PURCHASED"
        /// Bought by another member of the family.
        case familyShared = "FAMILY_SHARED"
        /// A seat that a group or an organisation bought.
        case assigned = "ASSIGNED"
    }

    private let transactionBase: Int64
    private let lineItemBase: Int64

    /// The life with that number; store and token follow from the seed unless given, and there is no
    /// token if none shall be drawn.
    package init(
        seed: UInt64,
        index: Int64,
        ownership: Ownership = .purchased,
        storefront: SimulatedStorefront? = nil,
        appAccountToken token: String? = nil,
        drawsToken: Bool = true,
        bundle: SimulatedBundle? = nil,
        previousOriginalTransactionId: String? = nil
    ) {
        precondition((0..<1_000_000_000).contains(index), "a life is numbered below 10^9: \(index)")
        var common = SeededGenerator(seed: seed, branch: Self.branch)
        // Fifteen digits, like Apple's; the last three number the transactions of one life. Equal
        // lengths make the order of bytes the same as the order of numbers.
        transactionBase = common.integer(in: 200...899) * 1_000_000_000_000 + index * 1000
        lineItemBase = common.integer(in: 200...899) * 1_000_000_000_000 + index * 1000
        var generator = SeededGenerator(seed: seed ^ Self.branch, branch: UInt64(index))
        let chosen = generator.element(of: SimulatedStorefront.all) ?? SimulatedStorefront.all[0]
        let drawn = generator.chance(percent: 60) ? generator.uuid() : nil
        appAccountToken = token ?? (drawsToken ? drawn : nil)
        appTransactionId = String(
            704_000_000_000_000_000 + generator.integer(in: 0...999_999_999_999)
        )
        self.seed = seed
        self.index = index
        self.ownership = ownership
        self.bundle = bundle
        self.previousOriginalTransactionId = previousOriginalTransactionId
        self.storefront = storefront ?? chosen
    }

    /// The id of the subscription, which is the id of its first transaction.
    package var originalTransactionId: String { transactionId(0) }

    /// Whether the customer has access as a member of a family.
    package var isFamilyShared: Bool { ownership == .familyShared }

    /// Whether another customer, or an organisation, paid for the access.
    package var isMember: Bool { ownership != .purchased }

    func transactionId(_ number: Int64) -> String { String(transactionBase + number) }

    func webOrderLineItemId(_ number: Int64) -> String { String(lineItemBase + number) }

    /// The generator for the notifications of one step: their delay and UUIDs.
    func generator(step: Int) -> SeededGenerator {
        SeededGenerator(seed: seed &+ UInt64(index) &* 0x9e37_79b9, branch: UInt64(step))
    }

    /// When Apple signs the first notification of a step: 1 to 29 seconds after it, which is less
    /// than the distance between two steps.
    func signedAt(step: Int, at: Instant) -> Instant {
        var generator = generator(step: step)
        return at.advanced(by: generator.integer(in: 1000...28_999))
    }

    private static let branch: UInt64 = 0x4944_0000_0000_0000
}
