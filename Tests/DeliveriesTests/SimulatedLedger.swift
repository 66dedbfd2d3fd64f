import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import Synchronization
import TestSupport

/// Something that happens once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

/// Waits, unless the task is cancelled.
func pause(milliseconds: Int) async {
    do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { return }
}

/// Runs a body with a ledger that holds simulated subscriptions, told in several commits.
func withLedger(
    lanes: Int,
    count: Int,
    _ body: @Sendable (Ledger, ConnectionSettings) async throws -> Void
) async throws {
    try await TestServer.shared.withDatabase { settings in
        _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: LaneCount(lanes)))
        let simulator = AppStoreSimulator(seed: 44)
        let policy = VerificationPolicy(
            roots: [try RootCertificate(der: simulator.store.pki.rootDER)],
            environments: [.production, .sandbox, simulator.store.environment],
            assumedEnvironment: simulator.store.environment
        )
        let ledger = try await Ledger.open(settings, policy: policy)
        for delivery in simulator.sampleHistory(count: count) {
            _ = try await ledger.ingest(delivery.payload, source: "test")
        }
        try await body(ledger, settings)
        await ledger.close()
    }
}
