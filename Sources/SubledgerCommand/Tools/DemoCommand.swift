import AppStore
import AppStoreSimulator
import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import Synchronization

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Fill a ledger with a synthetic App Store and explain three customers.",
        discussion: """
            Works in a database of its own, `subledger_demo`, on the configured server, which it \
            recreates each time. No other database is touched; if one of that name exists that the \
            demo did not create, the demo refuses to run.
            """
    )

    @Option(help: "Number of subscriptions.")
    var subscriptions = 240

    @Option(help: "The seed; the same seed gives the same ledger.")
    var seed: UInt64 = 1

    @OptionGroup var database: DatabaseOptions
    @Flag(name: .shortAndLong, help: "No progress on stderr.")
    var quiet = false

    private static let databaseName = "subledger_demo"

    /// Before the first purchase of any simulated life.
    private static let catalogStart = Instant(milliseconds: 1_230_768_000_000)

    func run() async throws {
        Terminal.write("1/5  starting PostgreSQL")
        let scratch = ScratchDatabase(
            server: try await database.settings(makes: true),
            name: DemoCommand.databaseName
        )
        Terminal.write("2/5  creating and migrating database \(scratch.name)")
        try await scratch.make()
        let settings = scratch.settings
        let simulator = AppStoreSimulator(seed: seed)
        let ledger = try await Ledger.open(
            settings,
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: simulator.store.pki.rootDER)]
            )
        )
        Terminal.write("3/5  ingesting \(subscriptions) subscriptions, shuffled, some twice")
        try await ingest(simulator, into: ledger)
        Terminal.write("4/5  importing the catalog, rebuilding the projections")
        try await importCatalog(into: ledger)
        let projector = Projector(log: ledger.log, settings: settings) {
            FoldContext(catalogs: try await ledger.catalogs())
        }
        for projection in try await projector.rebuild() {
            Terminal.print(
                "\(projection.name): \(projection.rows) rows from \(projection.events) events"
            )
        }
        Terminal.write("5/5  verifying the log")
        let report = try await ledger.log.verify()
        Terminal.print("verify: \(report.isOK ? "ok" : "MISMATCH"), \(report.events) events")
        try await show(simulator, in: ledger)
        await ledger.log.close()
        printNextSteps(settings)
        if !report.isOK { throw Exit.mismatch }
    }

    private func importCatalog(into ledger: Ledger) async throws {
        _ = try await CatalogStore(log: ledger.log).add(
            try CatalogFile.read(SimulatedCatalog.storekit),
            effectiveFrom: DemoCommand.catalogStart,
            source: "the synthetic App Store",
            recordedAt: .systemClock()
        )
    }

    private func ingest(_ simulator: AppStoreSimulator, into ledger: Ledger) async throws {
        let deliveries = Array(simulator.sampleHistory(count: subscriptions))
            .disordered(seed: seed)
        let rest = Mutex(deliveries.enumerated().makeIterator())
        var progress = Progress("ingest", isQuiet: quiet)
        let report = try await ledger.ingest(
            next: {
                rest.withLock { $0.next() }.map { index, delivery in
                    [LocatedPayload(path: "#\(index + 1)", payload: .success(delivery.payload))]
                }
            },
            source: "demo",
            progress: { progress.report($0.payloads, "payload") }
        )
        progress.finish()
        Terminal.print(
            "\(counted(report.payloads, "payload")): \(counted(report.appended, "fact")) appended, "
                + "\(report.duplicates) known already, \(report.rejected) refused; "
                + counted(report.streams, "stream")
        )
    }

    /// The shortest life of each kind that shows something, and what the ledger makes of it.
    private func show(_ simulator: AppStoreSimulator, in ledger: Ledger) async throws {
        let wanted: [(kind: LifeKind, story: String)] = [
            (.recoveredInGrace, "a renewal recovered in grace: no gap, and no grace left over"),
            (.upgraded, "an upgrade ended a period early"),
            (.refundReversed, "a refund was undone"),
        ]
        var shown: Set<String> = []
        for (kind, story) in wanted {
            let life = simulator.lives(subscriptions)
                .filter { $0.kinds.contains(kind) && !$0.kinds.contains(.refundedAgain) }
                .filter { !shown.contains($0.originalTransactionId) }
                .min { $0.events.count < $1.events.count }
            guard let life else { continue }
            shown.insert(life.originalTransactionId)
            let subject = SubjectID(
                life.originalTransactionId,
                in: life.store.environment,
                alone: true
            )
            Terminal.print("\n── \(story)")
            try await ledger.periods(of: subject).text(at: .systemClock()).forEach(Terminal.print)
            Terminal.print("")
            let answer = try await ledger.explanation(
                of: subject,
                at: life.horizon ?? .systemClock(),
                product: nil,
                knownAt: .latest
            )
            let style = Terminal.pictureStyle(isASCII: false)
            Terminal.print(ExplanationText(answer, style: style, width: Terminal.width).text)
        }
    }

    private func printNextSteps(_ settings: ConnectionSettings) {
        let some = AppStoreSimulator(seed: seed).life(0).originalTransactionId
        Terminal.print(
            """

            Try next (the demo's database: export DATABASE_URL="\(settings.fullConnectionString)"):
              subledger streams
              subledger explain \(some) --at 2025-01-01
              subledger history \(some)
              subledger verify --json
              subledger ingest --help
            """
        )
    }
}
