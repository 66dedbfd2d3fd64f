import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projector
import Subledger
import Synchronization
import TestSupport

/// Databases that hold a ledger of the same sixty simulated subscriptions.
enum FilledLedger {
    static let seed: UInt64 = 77
    static let lives = 60
    static let simulator = AppStoreSimulator(seed: seed)

    /// One lane, plain tables.
    static let plain = TestTemplate("filled") { try await fill($0, .single, order: 1) }

    /// The same payloads in four lanes, divided, in another order.
    static let divided = TestTemplate("filled_lanes") { try await fill($0, .divided, order: 2) }

    /// The ledger of such a database.
    static func open(_ settings: ConnectionSettings) async throws -> Ledger {
        Ledger(
            log: try await EventLog.open(settings, options),
            verifier: try simulator.verifier()
        )
    }

    /// One connection for reading, so that no test has more than it may.
    static var options: EventLog.Options {
        var options = EventLog.Options()
        options.readersMax = 1
        return options
    }

    /// A ledger of subscriptions with these lives, in a database of its own, with built tables.
    static func withLives(
        _ scripts: [[LifeStep]],
        _ body: (Ledger, PostgresSession) async throws -> Void
    ) async throws {
        let lives = try scripts.enumerated().map { index, script in
            try SubscriptionLife(
                identity: LifeIdentity(
                    seed: 15,
                    index: Int64(index + 1),
                    storefront: SimulatedStorefront.all[0]
                ),
                store: simulator.store,
                script: script
            )
        }
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await open(settings)
            try await ledger.ingest(lives.flatMap { $0.notifications() })
            _ = try await ledger.projector.rebuild()
            let session = try await PostgresSession.connect(settings)
            try await body(ledger, session)
            await session.close()
            await ledger.log.close()
        }
    }

    private static func fill(
        _ settings: ConnectionSettings,
        _ layout: Migrator.Layout,
        order: UInt64
    ) async throws {
        _ = try await Migrator.migrate(settings, layout)
        let ledger = try await open(settings)
        try await ledger.ingest(simulator.sampleHistory(count: lives).disordered(seed: order))
        await ledger.log.close()
    }
}

extension Ledger {
    /// Ingests deliveries; none may be refused.
    @discardableResult
    func ingest(_ deliveries: [Delivery]) async throws -> IngestReport {
        let rest = Mutex(deliveries.enumerated().makeIterator())
        let report = try await ingest(
            next: {
                rest.withLock { $0.next() }.map { number, delivery in
                    [LocatedPayload(path: "#\(number)", payload: .success(delivery.payload))]
                }
            },
            source: "test"
        )
        if let refusal = report.rejections.first { throw refusal.rejection }
        return report
    }

    /// Every stream, in the order of listings.
    func allStreams() async throws -> [StreamID] {
        try await log.streams(limit: 10_000).map(\.stream)
    }
}
