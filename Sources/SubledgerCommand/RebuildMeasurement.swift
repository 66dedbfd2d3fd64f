import EventLog
import Foundation
import Postgres
import Projections
import Projector

/// Runs the measurements of `bench rebuild` on a log that is there.
struct RebuildBench {
    let settings: ConnectionSettings

    /// Events of the log that is there; zero where none is.
    func existingEvents() async -> Int {
        do {
            return try await events()
        } catch {
            return 0
        }
    }

    /// Events of the log.
    func events() async throws -> Int {
        let log = try await EventLog.open(settings)
        let heads = try await log.heads()
        await log.close()
        return heads.values.reduce(0) { $0 + Int($1.offset) }
    }

    /// One round.
    func measure(into results: inout RebuildBenchResults) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CHECKPOINT")
        results.record(
            "read limit",
            try await RebuildBench.seconds {
                try await session.execute("COPY ledger.event TO '/dev/null' (FORMAT BINARY)")
            }
        )
        let log = try await EventLog.open(settings)
        let projector = Projector(log: log, settings: settings)
        let periods = try projector.projections(named: ["active_periods"])
        PeakMemory.reset()
        var options = Projector.RebuildOptions()
        options.jobs = ProcessInfo.processInfo.activeProcessorCount
        results.record(
            "active_periods, 1 job",
            try await RebuildBench.seconds { _ = try await projector.rebuild(periods) }
        )
        results.record(
            "active_periods",
            try await RebuildBench.seconds { _ = try await projector.rebuild(periods, options) }
        )
        results.record(
            "all",
            try await RebuildBench.seconds { _ = try await projector.rebuild(nil, options) }
        )
        results.peakMemoryMiB = max(results.peakMemoryMiB, PeakMemory.mebibytes)
        await log.close()
        results.record(
            "plain SQL",
            try await RebuildBench.seconds {
                try await session.execute(RebuildBench.plainSQL)
            }
        )
        try await session.execute("DROP SCHEMA plain CASCADE")
        await session.close()
    }

    /// What somebody would write who has no fold: one row a purchase, cut by the next start.
    ///
    /// It sees no refund, extension, grace or alias, whose fields have no column of their own.
    private static let plainSQL = """
        CREATE SCHEMA plain;
        CREATE TABLE plain.active_periods AS
        SELECT lane, environment, original_transaction_id,
            row_number() OVER stream AS ordinal, product_id, purchase_date_ms, expires_date_ms,
            purchase_date_ms AS valid_from_ms,
            least(expires_date_ms, lead(purchase_date_ms) OVER stream) AS valid_to_ms,
            'paid' AS kind,
            CASE WHEN lead(purchase_date_ms) OVER stream < expires_date_ms THEN 'upgraded'
                ELSE 'expired' END AS end_reason,
            positions
        FROM (
            SELECT lane, environment, original_transaction_id, purchase_date_ms, expires_date_ms,
                max(product_id) AS product_id, array_agg(lane_offset ORDER BY lane_offset) AS positions
            FROM ledger.event WHERE kind = 'transaction' AND expires_date_ms <> 0
            GROUP BY lane, environment, original_transaction_id, purchase_date_ms, expires_date_ms
        ) AS purchase
        WINDOW stream AS (PARTITION BY lane, environment, original_transaction_id
            ORDER BY purchase_date_ms);
        ALTER TABLE plain.active_periods
            ADD PRIMARY KEY (lane, environment, original_transaction_id, ordinal);
        CREATE INDEX ON plain.active_periods (original_transaction_id);
        CREATE INDEX ON plain.active_periods (valid_to_ms);
        """

    private static func seconds(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .seconds(1)
    }
}

/// What was measured, in seconds, by what and by round.
struct RebuildBenchResults {
    let events: Int
    /// Greatest memory of this process while it rebuilt.
    var peakMemoryMiB = 0

    private var seconds: [String: [Double]] = [:]
    private var order: [String] = []

    init(events: Int) {
        self.events = events
    }

    mutating func record(_ what: String, _ value: Double) {
        if seconds[what] == nil { order.append(what) }
        seconds[what, default: []].append(value)
    }

    var summary: [String: Double] {
        [
            "events": Double(events),
            "peakMemoryMiB": Double(peakMemoryMiB),
            "ratioToReadLimit": ratio("active_periods", "read limit"),
            "ratioOfAllToReadLimit": ratio("all", "read limit"),
            "ratioToPlainSQL": ratio("active_periods", "plain SQL"),
            "ratioOfAllToPlainSQL": ratio("all", "plain SQL"),
        ].merging(
            order.map { ("seconds " + $0, median(seconds[$0, default: []])) },
            uniquingKeysWith: { one, _ in one }
        )
    }

    var table: String {
        var table = TextTable(["measurement", "seconds", "events/s", "of the read limit", "of SQL"])
        for what in order {
            let middle = median(seconds[what, default: []])
            table.add([
                what, RebuildBenchResults.text(middle), "\(Int(Double(events) / middle))",
                RebuildBenchResults.text(ratio(what, "read limit")),
                RebuildBenchResults.text(ratio(what, "plain SQL")),
            ])
        }
        return table.text + "\npeak memory \(peakMemoryMiB) MiB, \(events) events"
    }

    private func ratio(_ what: String, _ other: String) -> Double {
        median(zip(seconds[what, default: []], seconds[other, default: []]).map { $0 / $1 })
    }

    private static func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}

/// The greatest memory this process has had, as the kernel counts it.
enum PeakMemory {
    /// Begins to count anew, where the kernel can (Linux).
    static func reset() {
        guard let handle = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
        handle.write(Data("5".utf8))
        handle.closeFile()
    }

    /// The greatest resident memory since; zero where the kernel does not tell.
    static var mebibytes: Int {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else {
            return 0
        }
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return kibibytes / 1024
    }
}
