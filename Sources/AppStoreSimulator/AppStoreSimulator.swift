public import Events

/// A signed, seeded, synthetic App Store whose truth is known.
///
/// Everything follows from the seed: certificates, customers, what happens to them, and the bytes
/// Apple would send. Each life can be created on its own, so any number of them can be streamed in
/// bounded memory.
public struct AppStoreSimulator: Sendable {
    /// The seed of everything.
    public let seed: UInt64
    /// The store whose app all lives belong to.
    public let store: SimulatedStore
    /// What the app sells besides subscriptions for one customer.
    public let extras: Extras

    /// What an app may sell since 2026; without extras, all lives are those of earlier versions.
    public struct Extras: OptionSet, Hashable, Sendable {
        /// The options as bits.
        public let rawValue: UInt8

        /// The options with those bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Seats for groups and organisations.
        public static let seats = Extras(rawValue: 1)
        /// Bundles and suites.
        public static let bundles = Extras(rawValue: 2)
        /// Offers for customers who are about to cancel.
        public static let retentionOffers = Extras(rawValue: 4)
        /// All of them.
        public static let all: Extras = [.seats, .bundles, .retentionOffers]
    }

    /// The share of lives, in percent, that belong to family members.
    public static let familySharePercent: Int64 = 8

    /// The simulation of a seed; flaws produce chains that a verifier must refuse.
    public init(
        seed: UInt64,
        environment: StoreEnvironment = .production,
        flaws: SimulatedPKI.Flaws = [],
        extras: Extras = []
    ) {
        self.init(
            seed: seed,
            store: SimulatedStore(
                pki: SimulatedPKI(seed: seed, flaws: flaws),
                environment: environment
            ),
            extras: extras
        )
    }

    /// The simulation of a seed in the given store.
    public init(seed: UInt64, store: SimulatedStore, extras: Extras = []) {
        self.seed = seed
        self.store = store
        self.extras = extras
    }

    /// The life with that number, from 0, below 10^9; independent of all others.
    public func life(_ index: Int) -> SubscriptionLife {
        var generator = SeededGenerator(seed: seed, branch: UInt64(index))
        let isFamilyShared = generator.chance(percent: Self.familySharePercent)
        let role = ExtraRole(seed: seed, index: index, extras)
        let identity = LifeIdentity(
            seed: seed,
            index: Int64(index),
            ownership: role.ownership ?? (isFamilyShared ? .familyShared : .purchased),
            bundle: role.bundle,
            previousOriginalTransactionId: role.previousOriginalTransactionId
        )
        let story = RandomStory(
            identity: identity,
            generator: generator,
            extras: extras,
            seats: role.seats
        )
        return life(identity, story.script)
    }

    /// The life of a script of ours, which the App Store allows.
    func life(_ identity: LifeIdentity, _ script: [LifeStep]) -> SubscriptionLife {
        do {
            return try SubscriptionLife(identity: identity, store: store, script: script)
        } catch {
            preconditionFailure("life \(identity.index) of seed \(seed) is impossible: \(error)")
        }
    }

    /// The first lives, created one at a time on demand.
    public func lives(_ count: Int) -> some Sequence<SubscriptionLife> {
        (0..<count).lazy.map { life($0) }
    }

    /// Everything that arrives unasked about the first lives: notifications and restores, life by
    /// life.
    public func sampleHistory(count: Int) -> some Sequence<Delivery> {
        (0..<count).lazy.flatMap { life($0).deliveries() }
    }
}
