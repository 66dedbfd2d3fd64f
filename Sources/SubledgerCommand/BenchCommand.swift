import ArgumentParser

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure the ledger against plain PostgreSQL on the configured server.",
        subcommands: []
    )
}
