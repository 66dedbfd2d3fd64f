import ArgumentParser
import CommandSupport
import EventLog
import Subledger

struct RateImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import exchange rates, or rates of commission and tax, from a CSV file.",
        discussion: """
            Exchange rates have the columns date, currency, base_currency and rate, in this order \
            or as named by a header (RFC 4180). A rate is how many units of the base currency one \
            unit of the currency is worth: 2026-01-31,USD,EUR,0.9223. It is used exactly as given: \
            it is never inverted or combined with another rate.

            With --kind apple, the file is financial_report.csv from Payments and Financial \
            Reports in App Store Connect, in English. Each of its exchange rates is imported for \
            every day of its fiscal month, and replaces other rates of these days.

            With --kind proceeds, the columns are storefront, from, commission_percent and \
            tax_percent: DEU,2026-01-01,30,15.97. A rate holds for purchases in this storefront \
            (ISO 3166-1; * for all others) from this day on. tax_percent is the share of the price \
            that is tax, commission_percent what Apple keeps of the rest. After a year of paid \
            service, the commission is 15 % at most, or what a fifth column, \
            commission_after_year_percent, states.

            If lines are refused, they are listed, all others are imported in one transaction, and \
            the exit code is 65. Importing the same file again changes nothing. A different rate \
            for a known day replaces the old one, which stays in the table.
            """
    )

    @Argument(help: "The file, or - for stdin.")
    var file: String

    @Option(help: "What the file contains.")
    var kind = RateKind.currency

    @Flag(help: "Check each line, print what would change, and write nothing.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        switch kind {
        case .currency: try await importRates(CurrencyRateFile(file))
        case .apple: try await importRates(AppleRateFile(file))
        case .proceeds: try await importRates(ProceedsRateFile(file))
        }
    }

    private func importRates(_ rates: some RateFile) async throws {
        var rates = rates
        let ledger = try await database.openLedger()
        Interrupt.heed()
        let answer = try await ledger.importRates(isDryRun: dryRun) {
            let found = try rates.next()
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
                "\(change.key.day)  \(change.key.words)  "
                    + "\(Rate.words(change.before)) → \(Rate.words(change.after))"
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
