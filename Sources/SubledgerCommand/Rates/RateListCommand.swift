import ArgumentParser
import CommandSupport
import Events
import Subledger

struct RateListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The rates that were imported.",
        discussion: """
            Exchange rates by pair of currencies, also those of Apple; with --kind proceeds, rates \
            of commission and tax by storefront. Each rate is a row of the table \
            operation.currency_rate or operation.proceeds_rate.
            """
    )

    @Option(help: "The kind of rates.")
    var kind = RateKind.currency

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        if kind == .proceeds {
            try await list(
                "rates of commission and tax",
                "import --kind proceeds FILE",
                by: { try await $0.proceedsRateSummaries() },
                [
                    "storefront", "days", "replaced", "first day", "last day", "commission %",
                    "after a year %", "tax %", "imported",
                ]
            ) { rate in
                [
                    rate.storefront, "\(rate.days)", "\(rate.replaced)", rate.firstDay,
                    rate.lastDay, rate.last.commissionPercent.text,
                    rate.last.commissionAfterYearPercent.text, rate.last.taxPercent.text,
                    rate.recordedAt.clock,
                ]
            }
        } else {
            try await list(
                "exchange rates",
                "import FILE",
                by: { try await $0.rateSummaries() },
                [
                    "currency", "base", "days", "replaced", "first day", "last day", "last rate",
                    "imported",
                ]
            ) { rate in
                [
                    rate.currency, rate.baseCurrency, "\(rate.days)", "\(rate.replaced)",
                    rate.firstDay, rate.lastDay, rate.lastRate.text, rate.recordedAt.clock,
                ]
            }
        }
    }

    private func list<Summary: Encodable>(
        _ noun: String,
        _ command: String,
        by ask: (Ledger) async throws -> [Summary],
        _ header: [String],
        row: (Summary) -> [String]
    ) async throws {
        let ledger = try await database.openLedger()
        let rates = try await ask(ledger)
        await ledger.close()
        if output.json {
            try Terminal.print(json: rates)
            return
        }
        guard !rates.isEmpty else {
            Terminal.print("no \(noun) were imported; `subledger rates \(command)` imports them")
            return
        }
        var table = TextTable(header)
        for rate in rates { table.add(row(rate)) }
        Terminal.print(table.text)
    }
}
