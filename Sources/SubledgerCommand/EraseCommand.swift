import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Subledger

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Remove a customer, or a subscription, from the log for good.",
        discussion: """
            An erasure blanks rows of the log and appends, in the same transaction, an event that \
            says which rows, why and who. Nothing brings back what was erased. `verify` still \
            proves the rest; `history`, `explain` and `feed` show the gap; tables follow by \
            `follow` or `rebuild`.

            The database login must be a member of ledger_eraser. Run --dry-run first. An erasure \
            that was interrupted is completed by running it again. Copies outside the log (backups, \
            replicas, WAL archives, exports, files that were ingested) are yours to erase; \
            schema/README.md lists them.
            """,
        subcommands: [EraseCustomerCommand.self, EraseSubscriptionCommand.self]
    )
}

/// What every erasure takes.
struct ErasureOptions: ParsableArguments {
    @Option(help: "Why: a ticket, a law. Kept in the log for ever, so name no person.")
    var reason: String

    @Option(help: "Who erases. Default: the user of this machine.")
    var by: String?

    @Flag(help: "List what would go, and change nothing.")
    var dryRun = false

    @Flag(
        help: """
            Erase also where a payload proves other subscriptions: they keep their events and lose \
            that payload.
            """
    )
    var withSiblings = false

    func validate() throws {
        if let refusal = ErasureStatement.refusal(reason: reason, erasedBy: by ?? "x") {
            throw ValidationError(refusal)
        }
    }

    /// Erases, or lists what would be erased, and prints what came of it.
    func run(
        _ targets: [ErasureTarget],
        in ledger: Ledger,
        _ output: OutputOptions
    ) async throws {
        let lanes = ledger.log.identity.lanes
        let erased =
            dryRun
            ? try await ledger.plannedErasures(of: targets)
            : try await ledger.erase(
                targets,
                reason: ErasureReason(reason, by: by ?? NSUserName()),
                withSiblings: withSiblings
            )
        await ledger.log.close()
        if output.json {
            try Terminal.print(json: ErasureDocument(erased, isDone: !dryRun, lanes: lanes))
        } else {
            ErasureDocument.printTable(
                erased,
                targets: Set(targets.map(\.stream)),
                isDone: !dryRun,
                lanes: lanes
            )
        }
    }
}

struct EraseCustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customer",
        abstract: "Remove what identifies a customer; purchases stay, under Apple's ids.",
        discussion: """
            Of every subscription that a link ever gave the customer, or whose app account token is \
            NAME or one of theirs, and of those without a token that Apple's account joins to them \
            (`customers show NAME`): links, tokens, unknown properties and all payloads go. \
            Purchases, prices and periods stay, as bookkeeping needs them, under Apple's \
            pseudonymous ids (appTransactionId is one of them), and are joined to nothing any more. \
            Of a subscription that belongs to another customer now, only the links that name this \
            one go.

            What Apple sends about these subscriptions later is taken in without what identifies a \
            person, and its payload is not kept.
            """
    )

    @Argument(help: "The app's own name for the customer, or an app account token.")
    var name: String

    @OptionGroup var erasure: ErasureOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await Ledger.open(
            try await database.settings(),
            options: try DatabaseOptions.logOptions()
        )
        let targets = try await ledger.erasureTargets(ofCustomer: name)
        guard !targets.isEmpty else {
            throw Failure(
                Exit.notFound,
                "no link and no app account token names '\(name)'; nothing was erased. If the "
                    + "customer was erased before, this is how it should be"
            )
        }
        try await erasure.run(targets, in: ledger, output)
    }
}

struct EraseSubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Remove all that the log says about a subscription.",
        discussion: """
            Every event of the subscription is blanked, and its payloads go; that the events were \
            there, and when they were recorded, stays. Facts from before the erasure are refused \
            from then on (`ingest` counts them as erased); later ones are taken in without what \
            identifies a person, and their payloads are not kept.
            """
    )

    @Argument(help: "Apple's originalTransactionId.")
    var originalTransactionId: String

    @Option(help: "Production, Sandbox, Xcode …; needed where the id is known in several.")
    var environment: String?

    @OptionGroup var erasure: ErasureOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await Ledger.open(
            try await database.settings(),
            options: try DatabaseOptions.logOptions()
        )
        let stream = try await StreamOptions.stream(
            originalTransactionId,
            in: environment,
            of: ledger.log
        )
        try await erasure.run(
            [ErasureTarget(stream: stream, scope: .subscription)],
            in: ledger,
            output
        )
    }
}

/// The JSON of `erase`.
private struct ErasureDocument: Encodable {
    let erased: Bool
    let erasures: [Line]

    struct Line: Encodable {
        let position: PositionValue?
        let originalTransactionId: String
        let environment: String
        let scope: String
        let lane: Int
        let events: String
        let confirmations: String
        let evidence: String
    }

    init(_ erasures: [StreamErasure], isDone: Bool, lanes: LaneCount) {
        erased = isDone
        self.erasures = erasures.map { done in
            Line(
                position: done.position.map { PositionValue($0, lanes: lanes) },
                originalTransactionId: done.stream.originalTransactionId,
                environment: done.stream.environment.word,
                scope: done.erasure.scope.rawValue,
                lane: done.lane,
                events: done.erasure.events.description,
                confirmations: done.erasure.confirmations.description,
                evidence: done.erasure.evidence.description
            )
        }
    }

    /// The same for people.
    static func printTable(
        _ erasures: [StreamErasure],
        targets: Set<StreamID>,
        isDone: Bool,
        lanes: LaneCount
    ) {
        guard !erasures.isEmpty else {
            Terminal.print("nothing is left to erase")
            return
        }
        var table = TextTable([
            "subscription", "environment", "takes", "events", "payloads", "event",
        ])
        for done in erasures {
            table.add([
                done.stream.originalTransactionId, done.stream.environment.word,
                done.erasure.scope.rawValue, "\(done.erasure.events.count)",
                "\(done.erasure.evidence.count)",
                done.position?.text(lanes: lanes) ?? "–",
            ])
        }
        Terminal.print(table.text)
        let siblings = Set(erasures.map(\.stream)).subtracting(targets).count
        if !isDone {
            Terminal.print(
                siblings == 0
                    ? "nothing was changed: this was a dry run"
                    : "nothing was changed: this was a dry run. Subscriptions that share payloads "
                        + "with what is to be erased: \(siblings); they would lose these payloads, "
                        + "so the erasure needs --with-siblings"
            )
            return
        }
        Terminal.write(
            "The old bytes lie in the database's files until PostgreSQL writes over them. To remove "
                + "them now, run as a member of ledger_owner: VACUUM FULL ledger.event, "
                + "ledger.confirmation, ledger.evidence (it stops appends while it rewrites them)"
        )
    }
}
