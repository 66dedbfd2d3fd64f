import ArgumentParser
import CommandSupport
import Subledger

struct RateImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import exchange rates from a CSV file.",
        discussion: """
            The columns are date, currency, base_currency and rate, in this order or as named by a \
            header (RFC 4180). A rate is how many units of the base currency one unit of the \
            currency is worth: 2026-01-31,USD,EUR,0.9223. It is used exactly as given: it is never \
            inverted or combined with another rate.

            If lines are refused, they are listed, all others are imported in one transaction, and \
            the exit code is 65. Importing the same file again changes nothing. A different rate \
            for a known day replaces the old one, which stays in the table.
            """
    )

    @Argument(help: "The file, or - for stdin.")
    var file: String

    @Flag(help: "Check each line, print what would change, and write nothing.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var lines = try RateFile(file)
        let ledger = try await database.openLedger()
        Interrupt.heed()
        let answer = try await ledger.importRates(isDryRun: dryRun) {
            let found = try lines.next()
            // All or nothing: after a request to stop, no part of the list is imported.
            if Interrupt.isRequested { throw Exit.interrupted }
            return found
        }
        await ledger.close()
        if output.json { try Terminal.print(json: answer) } else { answer.printText(file) }
        if answer.rejected > 0 { throw Exit.badInput }
    }
}

extension RateImportDocument {
    /// The answer as text.
    fileprivate func printText(_ file: String) {
        CSVTable.printRefused(rejections, of: rejected, in: file)
        for change in replacements {
            Terminal.print(
                "\(change.day)  \(change.currency) to \(change.baseCurrency)  "
                    + "\(change.before.text) → \(change.after.text)"
            )
        }
        if replaced > replacements.count {
            Terminal.print("… and \(replaced - replacements.count) more")
        }
        Terminal.print(
            "\(counted(lines, "line")): \(counted(added, "rate")) "
                + (isDryRun ? "to add" : "added")
                + ", \(replaced) replaced, \(known) known already, "
                + "\(counted(rejected, "line")) refused"
                + (isDryRun ? "; dry run, nothing was written" : "")
        )
    }
}
