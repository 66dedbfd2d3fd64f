import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Postgres
import Subledger

extension BenchCommand {
    struct Ingest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The whole of ingest, from files to the durable log, against its limit.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server. Each \
                round ingests a kind of file into an empty ledger, then the same file again, and \
                measures the limit right after it: the bare signature checks of the same payloads \
                on all cores, while COPY BINARY writes the same rows into tables with the same \
                columns, constraints and indexes; server and client share the cores in both. \
                verifyReceipt responses are not signed: their limit is the decoder alone, on all \
                cores, next to the same COPY. Ratios are taken within a round, and medians over \
                the rounds are printed; MiB are what the first delivery added to the memory of \
                this process, at most in any round. Use a release build.
                """
        )

        @Option(help: "Rounds; ratios are medians over them.")
        var rounds = 3

        @Option(help: "Megabytes of payloads of each kind.")
        var megabytes = 100

        @Option(help: "A kind of file; repeat for more. Default: all.")
        var kind: [IngestBenchKind] = []

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        /// The most data of a kind, in megabytes: it is created and stored on disk first.
        private static let megabytesMax = 10_000

        func validate() throws {
            guard rounds >= 1 else { throw ValidationError("--rounds must be at least 1") }
            guard megabytes >= 1, megabytes <= Ingest.megabytesMax else {
                throw ValidationError(
                    "--megabytes must be at least 1 and at most \(Ingest.megabytesMax)"
                )
            }
        }

        func run() async throws {
            let scratch = try await database.scratch()
            let folder = try URL.benchFolder()
            do {
                try await measure(scratch, folder)
            } catch {
                try FileManager.default.removeItem(at: folder)
                throw error
            }
            try FileManager.default.removeItem(at: folder)
        }

        private func measure(_ scratch: ScratchDatabase, _ folder: URL) async throws {
            output.note("making and signing payloads")
            let kinds = IngestBenchKind.allCases.filter { kind.isEmpty || kind.contains($0) }
            var results = IngestBenchResults()
            for kind in kinds {
                // One kind's payloads at a time, so the memory is that of its ingest.
                let bench = IngestBench(
                    settings: scratch.settings,
                    material: try IngestBenchMaterial(
                        kind,
                        byteCount: megabytes * 1_000_000,
                        in: folder
                    )
                )
                for round in 1...rounds {
                    output.note("\(kind.title): round \(round) of \(rounds)")
                    try await scratch.make()
                    results.rounds[kind, default: []].append(try await bench.measured())
                }
            }

            try await scratch.drop()
            try output.print(results.table, json: results.summary)
        }
    }
}

/// One kind of file, ingested twice, and its limit.
struct IngestBench {
    let settings: ConnectionSettings
    let material: IngestBenchMaterial

    /// The tables that an ingest fills, in an order that satisfies their references.
    private static let tables = ["commit", "evidence_segment", "evidence", "event", "confirmation"]

    /// The measurements of one round, in seconds.
    struct Round {
        var first = 0.0
        var second = 0.0
        var limit = 0.0
        var facts = 0
        var memoryMiB = 0
        let payloads: Double
        let megabytes: Double
    }

    func measured() async throws -> Round {
        var round = Round(
            payloads: Double(material.payloadCount),
            megabytes: Double(material.byteCount) / 1e6
        )
        PeakMemory.reset()
        let before = PeakMemory.mebibytes
        let policy = VerificationPolicy(roots: [material.root])
        (round.first, round.facts) = try await ingest(policy)
        round.memoryMiB = PeakMemory.mebibytes - before
        let second: Int
        (round.second, second) = try await ingest(policy)
        guard round.facts > 0, second == 0 else {
            throw Failure(
                Exit.internalError,
                "a measurement gave a wrong result, so no rate is reported"
            )
        }
        round.limit = try await limit()
        return round
    }

    private func ingest(_ policy: VerificationPolicy) async throws -> (Double, facts: Int) {
        let start = ContinuousClock.now
        let ledger = try await Ledger.open(settings, policy: policy)
        let reader = PayloadReader(try PayloadWalk([material.path]))
        let report = try await ledger.ingest(
            next: { try await reader.next() },
            source: "bench",
            arrival: .imported,
            voucher: .operator
        )
        await ledger.log.close()
        guard report.rejected == 0, report.payloads == material.payloadCount else {
            throw Failure(
                Exit.internalError,
                "ingest accepted \(report.payloads) of \(material.payloadCount) payloads and "
                    + "refused \(report.rejected), so no rate is reported"
            )
        }
        return ((ContinuousClock.now - start) / .seconds(1), report.appended)
    }

    private func limit() async throws -> Double {
        let session = try await PostgresSession.connect(settings)
        var copies: [(table: String, rows: [[UInt8]])] = []
        try await session.execute("CREATE SCHEMA plain")
        for table in IngestBench.tables {
            try await session.execute(
                "CREATE TABLE plain.\(table) (LIKE ledger.\(table) INCLUDING ALL)"
            )
            let rows: [[UInt8]] = try await session.copyOut(
                "COPY ledger.\(table) TO STDOUT (FORMAT BINARY)",
                into: []
            ) { chunks, bytes throws(PostgresError) in chunks.append(Array(bytes)) }
            copies.append((table, rows))
        }

        let rows = copies
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let limit = try await seconds {
            async let copied: Void = IngestBench.copy(rows, session)
            try await WorkList.run(material.checkCount, workers: cores) { [material] _, index in
                try material.check(index)
            }
            try await copied
        }
        await session.close()
        return limit.seconds
    }

    private static func copy(
        _ rows: [(table: String, rows: [[UInt8]])],
        _ session: PostgresSession
    ) async throws {
        for (table, chunks) in rows {
            try await session.copyIn(
                "COPY plain.\(table) FROM STDIN (FORMAT BINARY)",
                from: 0,
                chunks: { number throws(PostgresError) in
                    defer { number += 1 }
                    return number < chunks.count ? chunks[number] : nil
                }
            )
        }
    }
}

/// The measurements, by round.
struct IngestBenchResults {
    var rounds: [IngestBenchKind: [IngestBench.Round]] = [:]

    /// The results by kind, for scripts; rates are of the first delivery unless stated otherwise.
    var summary: [String: [String: Double]] {
        Dictionary(uniqueKeysWithValues: rounds.map { ($0.rawValue, summary(of: $1)) })
    }

    var table: String {
        var table = TextTable([
            "files of", "payloads/s", "facts/s", "MB/s", "limit, payloads/s", "ratio",
            "second delivery, payloads/s", "ratio to first", "MiB",
        ])
        for kind in IngestBenchKind.allCases {
            guard let rounds = rounds[kind] else { continue }
            let summary = summary(of: rounds)
            func whole(_ name: String) -> String { "\(Int(summary[name, default: 0]))" }
            func ratio(_ name: String) -> String { hundredths(summary[name, default: 0]) }
            table.add([
                kind.title, whole("payloadsPerSecond"), whole("factsPerSecond"),
                whole("megabytesPerSecond"), whole("limitPayloadsPerSecond"),
                ratio("ratioToLimit"), whole("secondPayloadsPerSecond"),
                ratio("ratioOfSecondToFirst"), whole("memoryMiB"),
            ])
        }
        return table.text
    }

    private func summary(of rounds: [IngestBench.Round]) -> [String: Double] {
        [
            "payloads": rounds.first?.payloads ?? 0,
            "megabytes": rounds.first?.megabytes ?? 0,
            "facts": Double(rounds.first?.facts ?? 0),
            "payloadsPerSecond": median(rounds.map { $0.payloads / $0.first }),
            "factsPerSecond": median(rounds.map { Double($0.facts) / $0.first }),
            "megabytesPerSecond": median(rounds.map { $0.megabytes / $0.first }),
            "secondPayloadsPerSecond": median(rounds.map { $0.payloads / $0.second }),
            "limitPayloadsPerSecond": median(rounds.map { $0.payloads / $0.limit }),
            "ratioToLimit": median(rounds.map { $0.limit / $0.first }),
            "ratioOfSecondToFirst": median(rounds.map { $0.first / $0.second }),
            "memoryMiB": Double(rounds.map(\.memoryMiB).max() ?? 0),
        ]
    }
}
