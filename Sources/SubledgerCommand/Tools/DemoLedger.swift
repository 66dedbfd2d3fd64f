import AppStore
import AppStoreSimulator
import Catalog
import EventLog
import Events
import Postgres
import Subledger

/// The ledger of a demo: it trusts a synthetic App Store, and its clock shows the time of the
/// simulation.
enum DemoLedger {
    /// Before the first purchase of any simulated life.
    private static let catalogStart = Instant(milliseconds: 1_230_768_000_000)

    /// Opens the ledger in a database that has its schema.
    static func open(
        _ settings: ConnectionSettings,
        _ simulator: AppStoreSimulator,
        _ clock: DemoClock
    ) async throws -> Ledger {
        var options = EventLog.Options()
        options.clock = { clock.now }
        return try await Ledger.open(
            settings,
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: simulator.store.pki.rootDER)]
            ),
            options: options
        )
    }

    /// Imports the catalog of the store.
    static func importCatalog(into ledger: Ledger, at instant: Instant) async throws {
        _ = try await CatalogStore(log: ledger.log).add(
            try CatalogFile.read(SimulatedCatalog.storekit),
            effectiveFrom: catalogStart,
            source: "the synthetic App Store",
            recordedAt: instant
        )
    }
}
