import AppStore
import AppStoreSimulator
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Postgres
import Projections
import Subledger

extension BenchCommand {
    struct Read: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Answers about one subscription against a bare SELECT of its rows.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server: a \
                synthetic App Store, and among it subscriptions of 30 and of 400 events. Each \
                query reads one of these in three ways, in turns: bare, the same event rows by \
                primary key with a prepared statement in binary, not decoded; periods, the stream \
                read and folded; explain, the stream read and folded twice, as known then and now. \
                Ratios are of the 99th percentiles, one caller. Use a release build.
                """
        )

        @Option(help: "Other subscriptions in the ledger.")
        var streams = 500

        @Option(help: "Queries of each kind and size.")
        var queries = 2000

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard streams >= 0, queries >= 1 else {
                throw ValidationError("--streams must be at least 0, --queries at least 1")
            }
        }

        func run() async throws {
            let scratch = try await database.scratch()
            try await scratch.make()
            output.note("filling a ledger of \(streams) subscriptions")
            let material = try await ReadBenchMaterial.make(
                scratch.settings,
                others: streams,
                queries: queries
            )
            output.note("reading")
            let results = try await measure(material, scratch.settings)
            try await scratch.drop()
            try output.print(
                ReadBenchDocument.table(results),
                json: ReadBenchDocument(results, material, queries: queries)
            )
        }

        private func measure(
            _ material: ReadBenchMaterial,
            _ settings: ConnectionSettings
        ) async throws -> [ReadBenchResult] {
            let log = try await EventLog.open(settings)
            let session = try await PostgresSession.connect(settings)
            let bench = ReadBench(log: log, session: session)
            var results: [ReadBenchResult] = []
            for size in material.sizes {
                results.append(try await bench.measure(size, queries: queries))
            }
            await session.close()
            await log.close()
            return results
        }
    }
}

/// The three ways to read a subscription, alternating.
struct ReadBench {
    let log: EventLog
    let session: PostgresSession

    /// Queries before the measurement, which prepare statements, cache pages and load code; no more
    /// than are measured.
    private static let warmUpQueriesMax = 200

    // What `EventLog.history` reads of an event, by the primary key.
    private static let bareSQL = """
        SELECT \(EventRows.columns)
        FROM ledger.event AS e WHERE e.lane = $1 AND e.lane_offset = ANY ($2)
        """

    func measure(
        _ size: ReadBenchMaterial.Size,
        queries: Int
    ) async throws -> ReadBenchResult {
        var samples = [[Double]](repeating: [], count: 3)
        let warmUpQueries = min(ReadBench.warmUpQueriesMax, queries)
        for query in -warmUpQueries..<queries {
            let target = size.targets[(query + warmUpQueries) % size.targets.count]
            // Each way is first equally often, because the first finds colder caches.
            for turn in 0..<3 {
                let way = (turn + abs(query)) % 3
                let start = ContinuousClock.now
                let rows = try await read(target, way)
                let microseconds = (ContinuousClock.now - start) / .microseconds(1)
                guard rows > 0 else { throw Failure(Exit.internalError, "a query found nothing") }
                if query >= 0 { samples[way].append(microseconds) }
            }
        }
        return ReadBenchResult(events: size.events, samples: samples)
    }

    private func read(_ target: ReadBenchMaterial.Target, _ way: Int) async throws -> Int {
        guard way > 0 else {
            return try await session.query(
                ReadBench.bareSQL,
                [.int4(target.lane), .int8Array(target.offsets)]
            ).count
        }
        guard way == 2 else {
            return ActivePeriods(Timeline(try await log.history(of: target.stream))).rows.count
        }
        let history = try await log.recordedHistory(of: target.stream)
        let middle = history.events[history.events.count / 2].fact.asOf
        return Explanation([history], at: middle).rowsNow.count
    }
}

/// The measurements for subscriptions of one size: microseconds, by way.
struct ReadBenchResult {
    let events: Int
    let samples: [[Double]]

    /// The ways to read, in the order of the samples.
    static let ways = ["bare", "periods", "explain"]

    func median(_ way: Int) -> Double { percentile(samples[way], 0.5) }

    func p99(_ way: Int) -> Double { percentile(samples[way], 0.99) }
}

/// The JSON of `bench read`.
struct ReadBenchDocument: Encodable {
    let streams: Int
    let events: Int64
    let queries: Int
    /// Subscriptions of one size; times in microseconds, and ratios to the bare way.
    let sizes: [[String: Double]]

    init(_ results: [ReadBenchResult], _ material: ReadBenchMaterial, queries: Int) {
        streams = material.streams
        events = material.events
        self.queries = queries
        sizes = results.map { result in
            var size = ["events": Double(result.events)]
            for (number, way) in ReadBenchResult.ways.enumerated() {
                size[way + "P50"] = result.median(number)
                size[way + "P99"] = result.p99(number)
                if number > 0 { size[way + "RatioP99"] = result.p99(number) / result.p99(0) }
            }
            return size
        }
    }

    /// The results as a table.
    static func table(_ results: [ReadBenchResult]) -> String {
        var table = TextTable([
            "events", "way", "p50 µs", "p99 µs", "p50 ratio", "p99 ratio",
        ])
        for result in results {
            for (number, way) in ReadBenchResult.ways.enumerated() {
                let (median, p99) = (result.median(number), result.p99(number))
                table.add([
                    "\(result.events)", way, "\(Int(median))", "\(Int(p99))",
                    hundredths(median / result.median(0)), hundredths(p99 / result.p99(0)),
                ])
            }
        }
        return table.text
    }
}
