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

    /// The share of lives, in percent, that belong to family members.
    public static let familySharePercent: Int64 = 8

    /// The simulation of a seed; flaws produce chains that a verifier must refuse.
    public init(
        seed: UInt64,
        environment: Environment = .production,
        flaws: SimulatedPKI.Flaws = []
    ) {
        self.init(
            seed: seed,
            store: SimulatedStore(
                pki: SimulatedPKI(seed: seed, flaws: flaws),
                environment: environment
            )
        )
    }

    /// The simulation of a seed in the given store.
    public init(seed: UInt64, store: SimulatedStore) {
        self.seed = seed
        self.store = store
    }

    /// The life with that number, from 0, below 10^9; independent of all others.
    public func life(_ index: Int) -> SubscriptionLife {
        var generator = SeededGenerator(seed: seed, branch: UInt64(index))
        let identity = LifeIdentity(
            seed: seed,
            index: Int64(index),
            isFamilyShared: generator.chance(percent: Self.familySharePercent)
        )
        let story = RandomStory(identity: identity, generator: generator)
        do {
            return try SubscriptionLife(identity: identity, store: store, script: story.script)
        } catch {
            preconditionFailure("life \(index) of seed \(seed) is impossible: \(error)")
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
