import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct ImportCustomersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Link many subscriptions to their customers from a CSV file.",
        discussion: """
            The columns are customer, id (Apple's originalTransactionId) and from, in this order \
            or as named by a header (RFC 4180). In a header, usual names are understood (userId, \
            app_user_id, original_transaction_id, store_transaction_id …), other columns are left \
            out, and what is used is printed. Without from, a link holds from the first purchase \
            on if no link named the subscription before, otherwise from now on. If lines are \
            refused, they are listed, all others are appended, and the exit code is 65. Importing \
            the same file again changes nothing. A subscription that another customer has is \
            refused; use `customers link --transfer` to move it.
            """
    )

    @Argument(help: "The file, or - for stdin.")
    var file: String

    @Option(
        help: "Production, Sandbox, Xcode …; required if an id is known in several.",
        transform: SubjectOptions.environment
    )
    var environment: StoreEnvironment?

    @Option(help: "The reason; kept with each statement.")
    var reason = ""

    @Option(help: "Who makes the statements. Default: the user of this machine.")
    var by: String?

    @Option(
        help: ArgumentHelp(
            "Use the column with this name in the header, such as customer=memberNo.",
            valueName: "name=header"
        ),
        transform: ImportCustomersCommand.column
    )
    var column: [ChosenColumn] = []

    @Flag(help: "Check each line against the ledger, and write nothing.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// A column of the list, and its name in the header.
    struct ChosenColumn {
        let name: String
        let header: String
    }

    private static func column(_ text: String) throws -> ChosenColumn {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, LinkFile.columnNames.contains(parts[0]) else {
            throw ValidationError(
                "--column is '\(text)'; expected NAME=HEADER with one of the names "
                    + LinkFile.columnNames.joined(separator: ", ")
            )
        }
        return ChosenColumn(name: parts[0], header: parts[1])
    }

    func run() async throws {
        var lines = try LinkFile(
            file,
            chosen: Dictionary(column.map { ($0.name, $0.header) }) { _, last in last }
        )
        let ledger = try await database.openLedger()
        Interrupt.heed()
        let isQuiet = output.quiet
        let progress = Progress("customers import", isQuiet: isQuiet)

        let answer = try await ledger.importLinks(
            LinkImport(
                environment: environment,
                statedBy: by ?? NSUserName(),
                reason: reason,
                isDryRun: dryRun
            ),
            next: {
                let isFirst = lines.use == nil
                let next = try lines.next()
                if isFirst, let use = lines.use, !isQuiet { Terminal.write(use) }
                return next
            },
            progress: { progress.report($0, "lines") }
        )

        progress.finish()
        await ledger.close()
        if !output.json { CSVTable.printRefused(answer.rejections, of: answer.rejected, in: file) }
        try output.print(answer, [answer.text])
        if Interrupt.isRequested { throw Exit.interrupted }
        if answer.rejected > 0 { throw Exit.badInput }
    }
}

extension LinkImportDocument {
    /// The answer as text.
    fileprivate var text: String {
        let end = positions.words
        return "\(counted(lines, "line")): \(counted(appended, "link")) "
            + (isDryRun ? "to append" : "appended")
            + ", \(known) known already, \(counted(rejected, "line")) refused"
            + (isDryRun ? "; dry run, nothing was written" : "")
            + (end.isEmpty ? "" : "; in the log up to \(end)")
    }
}
