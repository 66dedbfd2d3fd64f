import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Hummingbird
import HummingbirdTesting
import Postgres
import Projections
import Subledger
import SubledgerAppStore
import SubledgerHTTP
import TestSupport
import Testing

/// A ledger that trusts a simulated store.
struct PolledLedger: Sendable {
    let ledger: Ledger
    let settings: ConnectionSettings

    /// Runs a body with an empty ledger.
    static func run(
        seed: UInt64,
        _ body: (PolledLedger) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            var options = EventLog.Options()
            options.readersMax = 1
            let policy = VerificationPolicy(
                roots: [
                    try RootCertificate(der: AppStoreSimulator(seed: seed).store.pki.rootDER)
                ]
            )
            let ledger = Ledger(
                log: try await EventLog.open(settings, options),
                verifier: AppStoreVerifier(policy: policy)
            )
            do {
                try await body(PolledLedger(ledger: ledger, settings: settings))
            } catch {
                await ledger.close()
                throw error
            }
            await ledger.close()
        }
    }

    /// Runs a body with the address at which this ledger takes notifications.
    func receiving(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let routes = LedgerRoutes(ledger, limits: ServiceLimits(), sandbox: .never)
        let application = Application(
            router: LedgerServer.router(of: routes),
            server: LedgerServer.http(for: routes),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: TestStore.silent
        )
        try await application.test(.live) { client in
            let port = try #require(client.port)
            try await body("http://127.0.0.1:\(port)/v1/appstore/notifications")
        }
    }

    /// One round of a poller that asks a store.
    func poll(
        _ selection: PollSelection,
        _ store: TestStore,
        _ limits: ServerLimits = .brisk,
        pauseSeconds: Double = 600,
        clock: (@Sendable () -> Instant)? = nil,
        configure: (inout Poller.Options) -> Void = { _ in }
    ) async throws -> PollReport {
        try await withPoller(store, limits, clock: clock) {
            $0.pauseSeconds = pauseSeconds
            configure(&$0)
        } _: { poller in
            try await poller.poll(selection)
        }
    }

    /// Runs a body with a poller that asks a store.
    func withPoller<Value>(
        _ store: TestStore,
        _ limits: ServerLimits = .brisk,
        clock: (@Sendable () -> Instant)? = nil,
        configure: (inout Poller.Options) -> Void = { _ in },
        _ body: (Poller) async throws -> Value
    ) async throws -> Value {
        var options = Poller.Options(holder: UUID().uuidString)
        configure(&options)
        let now = store.now
        let clock = clock ?? { now }
        let client = AppStoreServerClient(
            try store.credentials(),
            hosts: try ServerHosts(url: store.url),
            limits: limits,
            clock: clock
        )
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await body(Poller(ledger, client, options: options, clock: clock))
            )
        } catch {
            result = .failure(error)
        }
        try await client.close()
        return try result.get()
    }

    /// The subscriptions that Apple ever answered about.
    func answered() async throws -> Set<String> {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(
            """
            SELECT original_transaction_id FROM operation.poll
            WHERE answered_at IS NOT NULL AND original_transaction_id <> ''
            """,
            []
        )
        await session.close()
        return Set(try (0..<rows.count).map { try rows[$0].text(0) })
    }

    /// Takes in what the store has signed, as if nothing had been lost.
    func ingestEverything(of lives: [SubscriptionLife], until now: Instant) async throws {
        for life in lives {
            for (number, instant) in life.notificationInstants.enumerated()
            where life.store.pace.real(instant) <= now {
                _ = try await ledger.ingest(
                    life.notification(number).payload,
                    source: "notification"
                )
            }
        }
    }

    /// How many rows the tables of the log have.
    func rowCounts() async throws -> [Int64] {
        let session = try await PostgresSession.connect(settings)
        let row = try await session.query(
            """
            SELECT (SELECT count(*) FROM ledger.event), (SELECT count(*) FROM ledger.confirmation),
                (SELECT count(*) FROM ledger.evidence), (SELECT count(*) FROM ledger.commit),
                (SELECT count(*) FROM ledger.rejection)
            """,
            []
        )
        await session.close()
        return try (0..<5).map { try row.single().int8($0) }
    }

    /// The digests of all projections.
    func digests() async throws -> [String] {
        try await ledger.projector.rebuild().map { "\($0.digest)" }
    }

    /// How the ledger's periods differ from those of the store.
    func differences(from lives: [SubscriptionLife], at now: Instant) async throws -> [String] {
        var differences: [String] = []
        for life in lives {
            let pace = life.store.pace
            let then = pace.calendar(now)
            func line(_ period: SimulatedPeriod, refunded: Instant? = nil) -> String {
                let end = refunded ?? period.validTo
                let reason = refunded == nil ? period.endReason : .refunded
                return "\(period.productId) \(pace.date(period.validFrom)) – \(pace.date(end)) "
                    + "\(period.kind.rawValue) \(reason.rawValue)"
            }
            let periods = life.periods(asOf: then)
            let expected = periods.map { line($0) }
            // If Apple made no statement between a reversal and the next refund, nothing shows that
            // there were two: the first date counts.
            let unheard = periods.map { line($0, refunded: life.firstRefund(of: $0, asOf: then)) }
            let stream = StreamID(
                environment: life.store.environment,
                originalTransactionId: life.originalTransactionId
            )
            let found = try await ledger.periods(of: stream).rows.map {
                "\($0.productId) \($0.validFrom) – \($0.validTo) \($0.kind.rawValue) "
                    + "\($0.endReason.rawValue)"
            }
            let isKnown = found.indices.map { index in
                index < expected.count
                    && [expected[index], unheard[index]].contains(found[index])
            }
            guard found.count != expected.count || isKnown.contains(false) else { continue }
            differences.append(
                "\(life.originalTransactionId) \(life.kinds.map(\.rawValue).sorted())\n"
                    + "expected \(expected.joined(separator: "\n    "))\n"
                    + "found    \(found.joined(separator: "\n    "))"
            )
        }
        return differences
    }
}

extension SubscriptionLife {
    // The first date of a refund in force, if Apple made no statement between it and the last one
    // and it is before the period's end.
    fileprivate func firstRefund(of period: SimulatedPeriod, asOf instant: Instant) -> Instant? {
        let own = known(asOf: instant).refundCases.filter {
            $0.purchaseDate == period.purchaseDate && $0.productId == period.productId
                && $0.revoked != nil
        }
        guard let last = own.last, last.reversal == nil else { return nil }
        let unannounced = own.reversed().prefix { $0.reversal != .announced }
        return unannounced.compactMap(\.revoked).min().flatMap { $0 < period.validTo ? $0 : nil }
    }
}

extension TestTemplate {
    /// An empty ledger.
    static let polled = TestTemplate("polled") { _ = try await Migrator.migrate($0, .single) }
}
