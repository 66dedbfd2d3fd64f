import ArgumentParser
import CommandSupport

extension BenchCommand {
    struct Rebuild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Rebuilds against only reading the log, and against plain SQL.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server. Makes a \
                log of that many events, then measures one after the other, in rounds: COPY of \
                the event table in binary to /dev/null (the reading limit), the same to this \
                process, reading by stream without a fold, the rebuild of active_periods alone \
                with one connection and with one per core, of all projections, the same compared \
                with the live tables and promoted, a copy of all tables inside the server (the \
                writing limit), `follow` over the last twentieth of the log, and plain SQL with \
                window functions as the alternative (which ignores refunds and grace). Ratios \
                are taken within a round, and medians printed; MiB are the greatest memory of \
                this process in any round. Use a release build.
                """
        )

        @Option(help: "Events of the log.")
        var events = 1_000_000

        @Option(help: "Rounds; ratios are medians over them.")
        var rounds = 3

        @Flag(help: "Keep the database, and reuse its log if it exists.")
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
            let bench = RebuildBench(settings: scratch.settings)
            let existing = keep ? await bench.existingEvents() : 0
            if existing == 0 {
                try await scratch.make()
                output.note("writing \(events) events")
                _ = try await RebuildBenchLog(events: events).write(to: scratch.settings)
            }
            var results = RebuildBenchResults(events: try await bench.events())
            for round in 1...rounds {
                output.note("round \(round) of \(rounds)")
                try await bench.measure(into: &results)
            }
            if !keep { try await scratch.drop() }
            try output.print(results.table, json: results.summary)
        }
    }
}
