import AppStoreSimulator
import ArgumentParser
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
        abstract: "Fill a ledger from a synthetic App Store, explain answers, repair a mistake.",
        discussion: """
            The payloads of a synthetic App Store reach the ledger at realistic times: most \
            immediately, some hours or days late. The ledger can therefore show what it answered \
            at each time, and why an answer was wrong. Its tables are built with a mistake in one \
            fold; the last step shows what the corrected fold changes, and for whom, and makes it \
            live.

            Works in a separate database, `subledger_demo`, on the configured server, and \
            recreates it each time. It touches no other database. The demo refuses to run if it \
            did not create the existing database of that name.
            """
    )

    @Option(help: "Number of subscriptions.")
    var subscriptions = 120

    @Option(help: "The seed; the same seed gives the same ledger.")
    var seed: UInt64 = 1

    @OptionGroup var database: DatabaseOptions
    @Flag(name: .shortAndLong, help: "Write no progress to stderr.")
    var quiet = false

    private static let databaseName = "subledger_demo"

    /// The projection that is first built with a mistake.
    private static let mistakenName = "active_periods"

    func run() async throws {
        Terminal.write("1/6  starting PostgreSQL")
        let scratch = ScratchDatabase(
            server: try await database.settings(createIfAbsent: true),
            name: DemoCommand.databaseName
        )
        Terminal.write("2/6  creating and migrating database \(scratch.name)")
        try await scratch.make()
        let simulator = AppStoreSimulator(seed: seed)
        let clock = DemoClock()
        let ledger = try await DemoLedger.open(scratch.settings, simulator, clock)
        let deliveries = DemoDeliveries(of: simulator, subscriptions: subscriptions, clock: clock)

        clock.set(deliveries.start)
        try await DemoLedger.importCatalog(into: ledger, at: deliveries.start)
        let late = deliveries.count(of: [.hourLate, .daysLate, .lostThenFetched])
        Terminal.write(
            "3/6  receiving \(counted(subscriptions, "subscription")) as Apple delivers them: "
                + "\(late) payloads late, some twice"
        )
        let counts = try await deliveries.ingest(into: ledger, isQuiet: quiet)
        clock.set(.systemClock())
        Terminal.print(
            "\(counted(counts.payloads, "payload")): \(counted(counts.appended, "fact")) appended, "
                + "\(counts.known) known already"
        )

        Terminal.write("4/6  building the tables, with a mistake in one fold")
        try await rebuildWithMistake(ledger)
        Terminal.write("5/6  verifying the log, and asking questions")
        let report = try await ledger.log.verify()
        Terminal.print("verify: \(report.isOK ? "ok" : "MISMATCH"), \(report.events) events")
        try await showWrongAnswer(in: ledger)
        try await show(simulator, in: ledger)
        Terminal.write("6/6  repairing the mistake: what changes, and for whom")
        try await repair(ledger, scratch.settings)
        await ledger.log.close()
        try printNextSteps(scratch.settings)
        if !report.isOK { throw Exit.mismatch }
    }

    private func rebuildWithMistake(_ ledger: Ledger) async throws {
        let folds = allProjections.map { projection -> any Projection in
            projection.name == DemoCommand.mistakenName
                ? DemoMistake(in: projection) : projection
        }
        let mistaken = Ledger(log: ledger.log, verifier: ledger.verifier, projections: folds)
        for table in try await mistaken.projector.rebuild() {
            Terminal.print(
                "\(table.name): \(counted(table.rows, "row")) from "
                    + "\(counted(table.events, "event"))"
            )
        }
    }

    /// A customer who was denied access for some hours because a payload came late.
    private func showWrongAnswer(in ledger: Ledger) async throws {
        let report = try await ledger.wrongAnswers(limit: subscriptions)
        let denied = report.worst.flatMap { subscription in
            subscription.stretches.map { (subscription: subscription, stretch: $0) }
        }.filter { $0.stretch.kind == .wronglyDenied && $0.stretch.seconds >= 3600 }
        // A customer who was already known makes a better example than one who was not known yet.
        let known = denied.filter { $0.stretch.cause != .notYetKnown }
        let shortest = (known.isEmpty ? denied : known)
            .min { $0.stretch.seconds < $1.stretch.seconds }
        guard let found = shortest else { return }
        Terminal.print(
            "\n── a customer had no access for \(Duration.words(found.stretch.seconds)), and asks why"
        )
        let middle = (found.stretch.from.milliseconds + found.stretch.to.milliseconds) / 2
        try await explain(
            SubjectID(
                found.subscription.originalTransactionId,
                in: found.subscription.environment,
                alone: true
            ),
            at: Instant(milliseconds: middle / 1000 * 1000),
            in: ledger
        )
    }

    /// The shortest life of each kind that shows something, and how the ledger interprets it.
    private func show(_ simulator: AppStoreSimulator, in ledger: Ledger) async throws {
        let wanted: [(kind: LifeKind, story: String)] = [
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
            let periods = try await ledger.periods(of: subject)
            PeriodsQuestion.text(periods, QuestionInput(subject, now: .systemClock()))
                .forEach(Terminal.print)
            Terminal.print("")
            try await explain(subject, at: life.horizon ?? .systemClock(), in: ledger)
        }
    }

    private func explain(
        _ subject: SubjectID,
        at instant: Instant,
        in ledger: Ledger
    ) async throws {
        let answer = try await ledger.explanation(
            of: subject,
            at: instant,
            product: nil,
            knownAt: .latest
        )
        let style = Terminal.pictureStyle(isASCII: false)
        ExplanationText(answer, style: style, width: Terminal.width).blocks.forEach(Terminal.print)
    }

    /// Compares the tables with those of the correct fold, and promotes these.
    private func repair(_ ledger: Ledger, _ settings: ConnectionSettings) async throws {
        Terminal.print("")
        let tables = try TableOptions.parse(["--quiet"])
        let samples = try ComparisonOptions.parse(["--samples", "1"])
        let work = TableWork(.diff(isPromoted: true), tables, nil, samples)
        let end = try await work.run(settings, ledger.log)
        guard end == .success else { throw end }
    }

    private func printNextSteps(_ settings: ConnectionSettings) throws {
        let some = AppStoreSimulator(seed: seed).life(0).originalTransactionId
        Terminal.print(
            """

            Try next (the demo's database: export DATABASE_URL="\(try settings.uri())"):
              subledger streams
              subledger explain \(some) --at 2025-01-01
              subledger report wrong-answers
              subledger report mrr
              subledger ingest --help
            """
        )
    }
}
