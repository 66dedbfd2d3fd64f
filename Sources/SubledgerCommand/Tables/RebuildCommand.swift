import ArgumentParser
import EventLog
import Events
import Foundation
import Subledger

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Build the tables of projections again from the log.",
        discussion: """
            New tables are filled beside the live ones and put in their place in one short \
            transaction: readers of the views in schema `projection` never see half of them. \
            Killed at any moment it leaves the live tables as they were; start it again.

            After a fold was mended, `tables diff` shows first what a rebuild would change.

            `--with` judges another policy before it is adopted, and makes nothing live (`explain` \
            and the other questions answer by the adopted one all the same):

              {"graceCounts":false,"familyCounts":true,"refundIsRetroactive":true,
               "reversalIsRetroactive":true,"catalogVersion":1}

            Subscriptions with an event that a fold refuses have no row; they are in \
            projection.refused_stream, and the exit code is 3.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Keep the tables in this schema, beside.",
            discussion: """
                `follow` brings them on with the live ones, but for those of --to and --with; \
                `tables` shows which is which.
                """,
            valueName: "schema"
        ),
        transform: SchemaName.checked
    )
    var into: String?

    @Option(
        help: ArgumentHelp(
            "With --into, fold the commits that begin up to this position or time (UTC).",
            discussion: "`follow` leaves such tables where they are.",
            valueName: "position"
        ),
        transform: Clock.knowledge
    )
    var to: AskedKnowledge?

    @Option(
        help: ArgumentHelp(
            "Show what another policy changes: a file, or - for stdin.",
            discussion: "The tables are dropped, or kept with --into; `follow` leaves them there.",
            valueName: "policy.json"
        )
    )
    var with: String?

    @OptionGroup var comparison: ComparisonOptions
    @OptionGroup var build: BuildOptions
    @OptionGroup var tables: TableOptions

    func validate() throws {
        guard to == nil || with == nil else {
            throw ValidationError(
                "--to does not go with --with, which compares where the live tables stand: leave "
                    + "it out, or build tables as of --to with --into alone"
            )
        }
        guard to == nil || into != nil else {
            throw ValidationError("--to is for --into: live tables go up to the end of the log")
        }
        guard with != nil || comparison.isEmpty else {
            throw ValidationError("--html and --samples are for --with, and for `tables diff`")
        }
    }

    func run() async throws {
        var work = TableWork(with.map { .whatIf(policy: $0) } ?? .rebuild, tables)
        work.schema = into
        work.to = to.map { $0.knownAt(now: .systemClock(), in: .utc) }
        work.comparison = comparison
        work.connections = build.connections
        try await work.run()
    }
}
