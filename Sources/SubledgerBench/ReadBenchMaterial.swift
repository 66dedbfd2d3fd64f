import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import Synchronization

/// A ledger to read from, and the subscriptions to read.
struct ReadBenchMaterial {
    /// Subscriptions in the ledger.
    let streams: Int
    /// Events in the ledger.
    let events: Int64
    /// The subscriptions to read, by their number of events.
    let sizes: [Size]

    /// Subscriptions with the same number of events.
    struct Size {
        let events: Int
        let targets: [Target]
    }

    /// A subscription to read, and the positions of its events.
    struct Target {
        let stream: StreamID
        let lane: Int32
        let offsets: [Int64?]
    }

    /// Events of the subscriptions to read: a year of a monthly one, with Apple's other statements,
    /// and eight years of a weekly one.
    private static let eventCounts = [30, 400]

    /// Subscriptions of each size: enough that no query finds its rows cached by the previous one;
    /// no more than queries.
    private static let targetsPerSizeMax = 20

    /// Facts in a notification of a renewal: the transaction, the renewal info, the notification
    /// itself.
    private static let factsPerNotification = 3

    /// The seed of all random numbers.
    private static let seed: UInt64 = 30_400

    /// Lives of the simulation are numbered from 0; those to read, from here.
    private static let firstTarget = 500_000_000

    /// Fills the ledger of a database, with all subscriptions mixed in random order.
    static func make(
        _ settings: ConnectionSettings,
        others: Int,
        queries: Int
    ) async throws -> Self {
        let simulator = AppStoreSimulator(seed: seed)
        var deliveries = Array(simulator.sampleHistory(count: others))
        var lives: [[SubscriptionLife]] = []
        let targetsPerSize = min(targetsPerSizeMax, queries)
        for count in eventCounts {
            let steps = (count + factsPerNotification - 1) / factsPerNotification
            lives.append(
                try (0..<targetsPerSize).map { number in
                    try life(firstTarget + count * targetsPerSize + number, steps, simulator.store)
                }
            )
        }
        for life in lives.joined() { deliveries += life.notifications() }

        let ledger = try await Ledger.open(settings, policy: try simulator.store.pki.policy())
        let rest = Mutex(deliveries.disordered(seed: seed).makeIterator())
        _ = try await ledger.ingest(
            next: {
                rest.withLock { $0.next() }
                    .map { [LocatedPayload(path: "bench", payload: .success($0.payload))] }
            },
            source: "bench"
        )

        var sizes: [Size] = []
        for group in lives { sizes.append(try await size(of: group, in: ledger.log)) }
        let events = try await ledger.log.heads().values.reduce(0) { $0 + $1.offset }
        await ledger.log.close()
        return Self(streams: others + lives.joined().count, events: events, sizes: sizes)
    }

    private static func life(
        _ index: Int,
        _ steps: Int,
        _ store: SimulatedStore
    ) throws -> SubscriptionLife {
        let (day, hour): (Int64, Int64) = (86_400_000, 3_600_000)
        let start = Instant(milliseconds: 1_400_000_000_000 + Int64(index % 1000) * hour)
        var script = [LifeStep.subscribe(weekly, offer: nil, at: start)]
        for week in 1..<Int64(steps) {
            let end = start.milliseconds + week * 7 * day
            script.append(.renew(at: Instant(milliseconds: end - hour)))
        }
        return try SubscriptionLife(
            identity: LifeIdentity(seed: seed, index: Int64(index)),
            store: store,
            script: script
        )
    }

    private static let weekly = SimulatedCatalog.lumen[5]

    private static func size(of lives: [SubscriptionLife], in log: EventLog) async throws -> Size {
        var targets: [Target] = []
        var events = 0
        for life in lives {
            let stream = StreamID(
                environment: .production,
                originalTransactionId: life.originalTransactionId
            )
            let history = try await log.history(of: stream)
            events = history.events.count
            targets.append(
                Target(
                    stream: stream,
                    lane: Int32(log.identity.lanes.lane(of: life.originalTransactionId)),
                    offsets: history.events.map { $0.position.offset }
                )
            )
        }
        return Size(events: events, targets: targets)
    }
}
