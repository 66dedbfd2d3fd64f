import ArgumentParser
import CommandSupport
import EventLog
import Foundation
import Subledger

struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Remove rows of the log that something other than subledger inserted.",
        discussion: """
            For a ledger to which nothing can be appended, or that `verify` reports, because of rows \
            that were inserted with SQL: the newest commits of a lane if they do not continue it or \
            have an unknown format; events, confirmations, payloads and catalog versions that no \
            commit accounts for; segments of payloads whose text differs from what their key \
            names; root certificates that no payload uses. Each removed row is kept in \
            ledger.repair, with the reason. The chain of digests does not change: it never covered \
            these rows.

            A commit that later commits were built upon is not removed. If `verify` still reports \
            one, restore a backup (schema/README.md, "Repairing").

            The database login must be a member of ledger_owner. Run with --dry-run first. Appends \
            wait while it runs.
            """
    )

    @Option(help: "The reason, for example a ticket.")
    var reason: String

    @Option(help: "Who repairs. Default: the user of this machine.")
    var by: String?

    @Flag(help: "List what would be removed, and change nothing.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !reason.isEmpty, by != "" else {
            throw ValidationError("--reason and --by must not be empty")
        }
    }

    func run() async throws {
        let log = try await database.openLog(try DatabaseOptions.logOptions())
        let removed = try await log.repair(
            reason: reason,
            by: by ?? NSUserName(),
            isDryRun: dryRun
        )
        await log.close()
        let end =
            dryRun
            ? "dry run: nothing was changed"
            : "removed \(counted(removed.count, "row")); ledger.repair keeps them. Now run "
                + "`subledger verify`"
        let rows = removed.map { [$0.table, "\($0.lane)", $0.key, $0.reason] }
        try output.print(
            RepairDocument(repaired: !dryRun, rows: removed),
            rows.isEmpty
                ? [.line("nothing to repair")]
                : [.table(["table", "lane", "row", "removed because"], rows), .line(end)]
        )
    }
}

/// What a repair removed, or would remove.
private struct RepairDocument: Encodable {
    let repaired: Bool
    let rows: [RepairedRow]
}
