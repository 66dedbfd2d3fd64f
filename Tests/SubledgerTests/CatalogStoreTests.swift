import AppStore
import AppStoreSimulator
import Catalog
import EventLog
import Events
import Projections
import Subledger
import TestSupport
import Testing

/// The catalog of a ledger, as folds receive it.
@Suite(.enabled { await TestServer.isAvailable })
struct CatalogStoreTests {
    private static let template = TestTemplate("catalog_store") {
        _ = try await Migrator.migrate($0, .single)
    }
    private static let now = Instant(milliseconds: 1_790_000_000_000)
    private static let before = Instant(milliseconds: 1_700_000_000_000)

    @Test func `imported versions are read back as the catalog history of folds`() async throws {
        try await TestServer.shared.withDatabase(from: Self.template) { settings in
            var options = EventLog.Options()
            options.clock = { Self.now }
            let ledger = try await Ledger.open(settings, options: options)
            let store = CatalogStore(log: ledger.log)
            #expect(try await ledger.catalogs() == .none)
            let content = try CatalogFile.read(SimulatedCatalog.storekit)
            // Subscriptions, consumables, a non-consumable and a non-renewing subscription.
            let sold = 17 + SimulatedCatalog.consumables.count + 2
            let dry = try await store.add(
                content,
                effectiveFrom: nil,
                source: "test",
                recordedAt: Self.now,
                isDryRun: true
            )
            #expect(dry.isAdded && dry.version.record.version == 1)
            #expect(try await ledger.catalogs() == .none, "a dry run adds nothing")
            let first = try await add(content, from: nil, to: store)
            #expect(first.isAdded && first.previous == nil && first.difference.added.count == sold)
            #expect(first.version.record == dry.version.record)
            let again = try await add(content, from: nil, to: store)
            #expect(!again.isAdded && again.difference.isEmpty)
            let empty = try await add(try Self.nothing(), from: Self.before, to: store)
            #expect(empty.isAdded && empty.previous?.record.version == 1)
            #expect(empty.difference.removed.count == sold)
            let history = try await ledger.catalogs()
            #expect(history.versions.map(\.version) == [2, 1], "by effective time")
            let (pro, plus) = (
                "example.subledger.lumen.pro.monthly", "example.subledger.lumen.plus.yearly"
            )
            #expect(history.change(from: plus, to: pro, at: Self.now) == .upgrade)
            #expect(history.change(from: plus, to: pro, at: Self.before) == .planChange)
            await ledger.log.close()
        }
    }

    private static func nothing() throws -> CatalogContent {
        try CatalogFile.read(Array("{\"products\":[]}".utf8))
    }

    private func add(
        _ content: CatalogContent,
        from effectiveFrom: Instant?,
        to store: CatalogStore
    ) async throws -> CatalogStore.Import {
        try await store.add(
            content,
            effectiveFrom: effectiveFrom,
            source: "test",
            recordedAt: Self.now
        )
    }
}
