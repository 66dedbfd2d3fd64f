import ArgumentParser

struct RatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates",
        abstract: "Your exchange rates, and rates of commission and tax, for reports.",
        discussion: """
            The ledger has no rates of its own. `report … --currency EUR` converts with the exact \
            rates that you import here, and prints the days of the rates that it used. `report \
            revenue --commission rates` estimates proceeds with the rates of commission and tax \
            that you import. A rate is never overwritten: a corrected rate is stored next to it, \
            and a report with --known-at an earlier time uses the rates that were known at that \
            time.
            """,
        subcommands: [RateImportCommand.self, RateListCommand.self]
    )
}
