import ArgumentParser
import CommandSupport
import Subledger

extension BenchCommand {
    struct Reports: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "report",
            abstract: "Reports against hand-written SQL, and exports against COPY to a file.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server. Makes a \
                log of that many events and its tables; then each round asks for every report, and \
                for the same rows by SQL that was written by hand for this one question, over the \
                same tables, one after the other in turns. Rows that differ end the bench. Then it \
                exports analytics.transactions into an empty folder, and copies the same rows to a \
                file as plain CSV. Ratios are taken within a round, and medians printed. Use a \
                release build.
                """
        )

        @Option(help: "Events of the log.")
        var events = 100_000

        @Option(help: "Rounds; ratios are medians over them.")
        var rounds = 3

        @Flag(help: "Keep the database, and reuse its tables if they exist.")
        var keep = false

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard rounds >= 1, events >= 1000 else {
                throw ValidationError("--rounds must be at least 1, --events at least 1000")
            }
        }

        func run() async throws {
            let scratch = try await database.scratch()
            let bench = ReportBench(settings: scratch.settings)
            let isThere = keep ? await bench.isThere() : false
            if !isThere {
                try await scratch.make()
                output.note("writing \(events) events and their tables")
                try await bench.fill(events: events)
            }
            var results = ReportBenchResults(events: try await bench.events())
            for round in 1...rounds {
                output.note("round \(round) of \(rounds)")
                try await bench.measure(into: &results, isReversed: round.isMultiple(of: 2))
            }
            if !keep { try await scratch.drop() }
            try output.print(results.table, json: results.summary)
        }
    }
}
