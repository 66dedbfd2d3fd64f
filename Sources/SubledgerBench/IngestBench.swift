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
            let server = try await database.settings(createIfAbsent: true)
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("subledger-bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            do {
                try await measure(ScratchDatabase(server: server, name: "subledger_bench"), folder)
            } catch {
                try FileManager.default.removeItem(at: folder)
                throw error
            }
            try FileManager.default.removeItem(at: folder)
        }

        private func measure(_ scratch: ScratchDatabase, _ folder: URL) async throws {
            if !output.quiet { Terminal.write("making and signing payloads") }
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
                    if !output.quiet {
                        Terminal.write("\(kind.title): round \(round) of \(rounds)")
                    }
                    try await scratch.make()
                    results.record(bench.material, try await bench.measured())
                }
            }

            try await scratch.drop()
            if output.json {
                try Terminal.print(json: results.summary)
            } else {
                Terminal.print(results.table)
            }
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
    }

    func measured() async throws -> Round {
        var round = Round()
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
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
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
            let work = WorkList(count: material.checkCount)
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    while let index = work.next() { try material.check(index) }
                }
            }
            try await group.waitForAll()
        }

        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        await session.close()
        return elapsed
    }
}

/// The measurements, by round.
struct IngestBenchResults {
    private var rounds: [IngestBenchKind: [IngestBench.Round]] = [:]
    private var sizes: [IngestBenchKind: Size] = [:]

    private struct Size {
        let payloads: Int
        let bytes: Int
    }

    mutating func record(_ material: IngestBenchMaterial, _ round: IngestBench.Round) {
        sizes[material.kind] = Size(payloads: material.payloadCount, bytes: material.byteCount)
        rounds[material.kind, default: []].append(round)
    }

    /// The results for one kind, for scripts; rates are of the first delivery unless stated
    /// otherwise.
    struct Summary: Encodable {
        let payloads: Int
        let megabytes: Double
        let facts: Int
        let payloadsPerSecond: Double
        let factsPerSecond: Double
        let megabytesPerSecond: Double
        let secondPayloadsPerSecond: Double
        let limitPayloadsPerSecond: Double
        let ratioToLimit: Double
        let ratioOfSecondToFirst: Double
        let memoryMiB: Int
    }

    var summary: [String: Summary] {
        Dictionary(
            uniqueKeysWithValues: sizes.map { ($0.rawValue, summary(of: $0, $1)) }
        )
    }

    var table: String {
        var table = TextTable([
            "files of", "payloads/s", "facts/s", "MB/s", "limit, payloads/s", "ratio",
            "second delivery, payloads/s", "ratio to first", "MiB",
        ])
        for kind in IngestBenchKind.allCases {
            guard let size = sizes[kind] else { continue }
            let summary = summary(of: kind, size)
            table.add([
                kind.title, "\(Int(summary.payloadsPerSecond))", "\(Int(summary.factsPerSecond))",
                "\(Int(summary.megabytesPerSecond))", "\(Int(summary.limitPayloadsPerSecond))",
                text(summary.ratioToLimit), "\(Int(summary.secondPayloadsPerSecond))",
                text(summary.ratioOfSecondToFirst), "\(summary.memoryMiB)",
            ])
        }
        return table.text
    }

    private func summary(of kind: IngestBenchKind, _ size: Size) -> Summary {
        let rounds = rounds[kind, default: []]
        let payloads = Double(size.payloads)
        let megabytes = Double(size.bytes) / 1e6
        return Summary(
            payloads: size.payloads,
            megabytes: megabytes,
            facts: rounds.first?.facts ?? 0,
            payloadsPerSecond: median(rounds.map { payloads / $0.first }),
            factsPerSecond: median(rounds.map { Double($0.facts) / $0.first }),
            megabytesPerSecond: median(rounds.map { megabytes / $0.first }),
            secondPayloadsPerSecond: median(rounds.map { payloads / $0.second }),
            limitPayloadsPerSecond: median(rounds.map { payloads / $0.limit }),
            ratioToLimit: median(rounds.map { $0.limit / $0.first }),
            ratioOfSecondToFirst: median(rounds.map { $0.first / $0.second }),
            memoryMiB: rounds.map(\.memoryMiB).max() ?? 0
        )
    }

    private func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}
