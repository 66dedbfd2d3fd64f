import ArgumentParser
import EventLog
import Events
import Foundation
import Subledger

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Rebuild the tables of projections from the log.",
        discussion: """
            Fills new tables next to the live ones, then replaces the live tables in one short \
            transaction: readers of the views in schema `projection` never see a partial result. \
            If the rebuild is killed, the live tables stay as they were; run it again.

            After you change a fold, `tables diff` shows what a rebuild would change.

            `--with` shows what another policy would change, without making it live (`explain` and \
            the other commands still use the adopted policy):

              {"graceCounts":false,"familyCounts":true,"refundIsRetroactive":true,
               "reversalIsRetroactive":true,"catalogVersion":1}

            A subscription with an event that a fold refuses has no rows; \
            projection.refused_stream lists these subscriptions, and the exit code is 3.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Keep the new tables in this schema, apart from the live ones.",
            discussion: """
                `follow` keeps them up to date, except those of --to and --with; `tables` shows \
                which table is which.
                """,
            valueName: "schema"
        ),
        transform: SchemaName.checked
    )
    var into: String?

    @Option(
        help: ArgumentHelp(
            "With --into: use only commits that begin up to this position or time (UTC).",
            discussion: "`follow` does not update such tables.",
            valueName: "position"
        ),
        transform: Clock.knowledge
    )
    var to: AskedKnowledge?

    @Option(
        help: ArgumentHelp(
            "Show what another policy changes: a file, or - for stdin.",
            discussion: "The tables are dropped, or kept with --into; `follow` does not update "
                + "them.",
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
                "--to cannot be combined with --with, which compares up to the position of the "
                    + "live tables: leave it out, or build tables as of --to with --into alone"
            )
        }
        guard to == nil || into != nil else {
            throw ValidationError("--to requires --into: live tables reach the end of the log")
        }
        guard with != nil || comparison.isEmpty else {
            throw ValidationError("--html and --samples require --with, or `tables diff`")
        }
    }

    func run() async throws {
        let action = with.map { TableWork.Action.whatIf(policy: $0) } ?? .rebuild
        var work = TableWork(action, tables, build, comparison, schema: into)
        work.to = to.map { $0.knownAt(now: .systemClock(), in: .utc) }
        try await work.run()
    }
}
