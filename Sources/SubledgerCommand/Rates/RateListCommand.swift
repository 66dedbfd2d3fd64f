import ArgumentParser
import CommandSupport
import Events
import Subledger

struct RateListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "The exchange rates that were imported, by pair of currencies.",
        discussion: "Each rate is a row of the table operation.currency_rate."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let ledger = try await database.openLedger()
        let rates = try await ledger.rateSummaries()
        await ledger.close()
        if output.json {
            try Terminal.print(json: rates)
            return
        }
        guard !rates.isEmpty else {
            Terminal.print(
                "no exchange rates were imported; `subledger rates import FILE` imports them"
            )
            return
        }
        var table = TextTable([
            "currency", "base", "days", "replaced", "first day", "last day", "last rate",
            "imported",
        ])
        for rate in rates {
            table.add([
                rate.currency, rate.baseCurrency, "\(rate.days)", "\(rate.replaced)",
                rate.firstDay, rate.lastDay, rate.lastRate.text, rate.recordedAt.clock,
            ])
        }
        Terminal.print(table.text)
    }
}
