import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Subledger

extension BenchCommand {
    struct Effects: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Effects read from the beginning of a log, by one reader.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server. Makes a \
                log of that many events and reads all effects of it: each subscription is folded \
                once for each commit that touched it. MiB is the greatest memory of this process. \
                Use a release build.
                """
        )

        @Option(help: "Events of the log.")
        var events = 200_000

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard events >= 1000 else {
                throw ValidationError("--events must be at least 1000")
            }
        }

        /// The result.
        private struct Result: Encodable {
            let events: Int
            let effects: Int
            let seconds: Double
            let effectsPerSecond: Double
            let mebibytes: Int
        }

        func run() async throws {
            let scratch = try await database.scratch()
            try await scratch.make()
            output.note("writing \(events) events")
            let written = try await RebuildBenchLog(events: events).write(to: scratch.settings)
            output.note("reading effects")
            let log = try await EventLog.open(scratch.settings)
            let result = try await measure(log, events: written)
            await log.close()
            try await scratch.drop()
            try output.print(
                "\(result.effects) effects of \(written) events in "
                    + "\(Int(result.seconds * 1000)) ms: \(Int(result.effectsPerSecond)) effects/s, "
                    + "\(result.mebibytes) MiB",
                json: result
            )
        }

        private func measure(_ log: EventLog, events: Int) async throws -> Result {
            let ledger = Ledger(
                log: log,
                verifier: AppStoreVerifier(policy: VerificationPolicy())
            )
            PeakMemory.reset()
            let start = ContinuousClock.now
            var effects = 0
            for try await _ in ledger.effects(isFollowing: false) { effects += 1 }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            return Result(
                events: events,
                effects: effects,
                seconds: seconds,
                effectsPerSecond: Double(effects) / seconds,
                mebibytes: PeakMemory.mebibytes
            )
        }
    }
}
