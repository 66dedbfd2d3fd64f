import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Permanently remove a customer or a subscription from the log.",
        discussion: """
            An erasure blanks rows of the log. In the same transaction it appends an event that \
            records which rows were erased, by whom, and why. What was erased cannot be restored. \
            `verify` still proves the rest; `history`, `explain` and `feed` show what is missing; \
            `follow` or `rebuild` updates the tables.

            The database login must be a member of ledger_eraser. Run with --dry-run first. If an \
            erasure was interrupted, run the same command again to complete it. Copies outside \
            the log (backups, WAL archives, exports, ingested files) are not erased; \
            schema/README.md lists those that you must erase yourself.
            """,
        subcommands: [
            EraseCustomerCommand.self, EraseSubscriptionCommand.self, EraseReturnedCommand.self,
        ]
    )
}

/// The options of every erasure.
struct ErasureOptions: ParsableArguments {
    @Option(
        help: """
            The reason, for example a ticket or a law. It stays in the log permanently: do not \
            name a person.
            """
    )
    var reason: String

    @Option(help: "Who performs the erasure. Default: the user of this machine.")
    var by: String?

    @Flag(help: "List what would be erased, and change nothing.")
    var dryRun = false

    @Flag(
        help: """
            Erase payloads even if they also prove other subscriptions: those subscriptions keep \
            their events and lose the shared payloads.
            """
    )
    var withSiblings = false

    func validate() throws {
        if let refusal = ErasureStatement.refusal(reason: reason, erasedBy: by ?? "x") {
            throw ValidationError(refusal)
        }
    }

    /// What to do about an id that is not known, for an error.
    static let asWritten =
        "`erase` takes an id only as it is written in the log; `subledger explain ID` also finds "
        + "other spellings, and prints for whom the answer is"

    /// Erases, or lists what would be erased, and prints the result.
    func run(
        _ targets: [ErasureTarget],
        leaving exceptions: [ErasureException] = [],
        in ledger: Ledger,
        _ output: OutputOptions
    ) async throws {
        let erased =
            dryRun
            ? try await ledger.plannedErasures(of: targets)
            : try await ledger.erase(
                targets,
                reason: ErasureReason(reason, by: by ?? NSUserName()),
                withSiblings: withSiblings
            )
        await ledger.log.close()
        let document = ErasureDocument(erased, leaving: exceptions, isDone: !dryRun)
        let siblings = Set(erased.map(\.stream)).subtracting(targets.map(\.stream)).count
        try output.print(document, document.text(siblings: siblings))
        if !output.json, document.erased, !erased.isEmpty {
            Terminal.write(
                "Tables, reports and exports contain what was erased until `subledger follow "
                    + "--once` has applied the erasure. The old bytes stay in the database's files "
                    + "until PostgreSQL overwrites them. To remove them now, run after that, as "
                    + "the owner of the tables: VACUUM (FULL, ANALYZE) (appends and reads wait "
                    + "while it runs)"
            )
        }
        if !output.json { for exception in document.left { Terminal.print(exception.words) } }
    }
}

struct EraseCustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customer",
        abstract: "Remove what identifies a customer; purchases stay under Apple's ids.",
        discussion: """
            Applies to every subscription that was ever linked to the customer, to every \
            subscription whose app account token is NAME or a token of the customer's own \
            subscriptions, and to those without a token that Apple's ids join to this customer \
            alone (`customers show NAME` lists them). A subscription with the token of another \
            account of your app stays, and so does one that could equally belong to another \
            account or customer; the listing names both kinds. Links, tokens, unknown properties \
            and all payloads are removed. Purchases, prices and periods stay for bookkeeping, \
            under Apple's pseudonymous ids (such as appTransactionId), without any connection to \
            the customer. From a subscription that now belongs to another customer, only the links \
            that name this customer are removed.

            Facts that Apple sends later about the customer's subscriptions are appended without \
            what identifies a person, and their payloads are not kept. A subscription that starts \
            later is recorded with its token; `erase returned` lists those that Apple's ids join \
            to an erased customer.
            """
    )

    @Argument(help: "The name that your app uses for the customer, or an app account token.")
    var name: String

    @OptionGroup var erasure: ErasureOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let targets = try await ledger.erasureTargets(ofCustomer: name)
        guard !targets.isEmpty else {
            throw Failure(
                Exit.notFound,
                "no link and no app account token names '\(name)'; nothing was erased. "
                    + "\(ErasureOptions.asWritten). Nothing is left of a customer who was erased "
                    + "before. For the id of a subscription, `subledger customers show` prints the "
                    + "name of its customer, and `subledger erase subscription` erases it alone"
            )
        }
        let exceptions = try await ledger.erasureExceptions(ofCustomer: name, targets: targets)
        try await erasure.run(targets, leaving: exceptions, in: ledger, output)
    }
}

struct EraseSubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Remove everything that the log records about a subscription.",
        discussion: """
            Every event of the subscription is blanked and its payloads are removed. The log still \
            shows that the events existed and when they were recorded. Facts with an as-of up to \
            the erasure are refused from then on (`ingest` exits with 65). Later facts are \
            appended without what identifies a person, and their payloads are not kept.
            """
    )

    @Argument(help: "Apple's originalTransactionId.")
    var originalTransactionId: String

    @Option(
        help: "Production, Sandbox, Xcode …; required if the id occurs in several.",
        transform: SubjectOptions.environment
    )
    var environment: StoreEnvironment?

    @OptionGroup var erasure: ErasureOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let stream: StreamID
        do {
            stream = try await ledger.stream(
                of: SubjectID(originalTransactionId, in: environment, alone: true)
            )
        } catch let error as QuestionError where error.code == .unknownId {
            throw Failure(Exit.notFound, "\(error.message). \(ErasureOptions.asWritten)")
        }
        try await erasure.run(
            [ErasureTarget(stream: stream, scope: .subscription)],
            in: ledger,
            output
        )
    }
}

extension ErasureDocument {
    /// The answer as text.
    ///
    /// - Parameter siblings: How many other subscriptions lose payloads that they share with these.
    /// - Returns: The parts.
    fileprivate func text(siblings: Int) -> [Block] {
        guard !erasures.isEmpty else { return [.line("nothing to erase")] }
        let rows = erasures.map { line in
            [
                line.stream.originalTransactionId, line.stream.environment.word,
                line.erasure.scope.rawValue, "\(line.erasure.events.count)",
                "\(line.erasure.evidence.count)",
                line.position.map { "\($0)" } ?? "–",
            ]
        }
        let dryRun =
            siblings == 0
            ? "dry run: nothing was changed"
            : "dry run: nothing was changed. Other subscriptions that share payloads with these: "
                + "\(siblings). They would lose the shared payloads, so this erasure requires "
                + "--with-siblings"
        return [
            .table(
                ["subscription", "environment", "removes", "events", "payloads", "event"],
                rows
            ),
            .line(
                "Apple is not asked to stop anything: a subscription that renews is charged until "
                    + "the customer cancels it in the settings of their Apple account."
            ),
        ] + (erased ? [] : [.line(dryRun)])
    }
}
