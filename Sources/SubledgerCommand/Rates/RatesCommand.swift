import ArgumentParser

struct RatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates",
        abstract: "Exchange rates of yours, by which reports convert money.",
        discussion: """
            The ledger has no rates of its own. `report … --currency EUR` converts by the rates that \
            you import here, exactly, and names the days of the rates that it used. A rate is never \
            overwritten: a corrected one is kept next to it, and a report --known-at an earlier time \
            uses the rates of that time.
            """,
        subcommands: [RateImportCommand.self, RateListCommand.self]
    )
}
