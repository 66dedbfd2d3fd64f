import AppStore
import CommandSupport
import EventLog
import Foundation
import Postgres
import Projector
import Subledger

/// Runs the measurements of `bench report` on existing tables.
struct ReportBench {
    let settings: ConnectionSettings

    /// The most rows of a report that are compared, for reports with a row for each customer.
    private static let rowsMax = 1000

    /// Whether a log with tables exists.
    func isThere() async -> Bool {
        do {
            return try await withLedger { ledger in
                !(try await ledger.report(ReportQuestion(Report.all[0])).positions.isEmpty)
            }
        } catch {
            return false
        }
    }

    /// Writes the log, and builds its tables.
    func fill(events: Int) async throws {
        _ = try await RebuildBenchLog(events: events).write(to: settings)
        try await withLedger { ledger in
            try await ReportBench.importRates(into: ledger)
            _ = try await ledger.projector.rebuild()
        }
        let session = try await PostgresSession.connect(settings)
        try await session.execute("VACUUM (ANALYZE)")
        await session.close()
    }

    private static func importRates(into ledger: Ledger) async throws {
        var lines: [Result<RateLine<ProceedsRate>, RefusedLine>]? =
            ReportBenchQueries.proceedsRates.enumerated().compactMap { index, rate in
                guard let key = ProceedsRate.Key(storefront: rate.storefront, day: rate.day),
                    let commission = Percent(rate.commission), let tax = Percent(rate.tax)
                else { return nil }
                let value = ProceedsRate.Value(commissionPercent: commission, taxPercent: tax)
                return .success(RateLine(number: index + 1, rate: ProceedsRate(key, value)))
            }
        _ = try await ledger.importRates {
            defer { lines = nil }
            return lines
        }
    }

    /// Events of the log.
    func events() async throws -> Int {
        try await withLedger { ledger in
            try await ledger.log.heads().values.reduce(0) { $0 + Int($1.offset) }
        }
    }

    /// One round; within a pair, each comes first equally often.
    func measure(into results: inout ReportBenchResults, isReversed: Bool) async throws {
        for compared in try ReportBenchQueries.all() {
            var question = compared.question
            question.limit = ReportBench.rowsMax
            let (asked, plain) = (question, compared.sql)
            // The report's days become the bounds of the handwritten query; it also fills the
            // caches for both.
            let bounds = try await withLedger { try await $0.report(asked) }
            let first = isReversed ? try await rows(of: plain, as: bounds) : nil
            let ours = try await timed(asked)
            let theirs = if let first { first } else { try await rows(of: plain, as: bounds) }
            results.reports.add(ours.seconds, to: compared.name)
            results.queries.add(theirs.seconds, to: compared.name)
            try ReportBench.compare(ours.document, theirs.rows)
        }
        try await measureExport(into: &results)
    }

    private func timed(
        _ question: ReportQuestion
    ) async throws -> (seconds: Double, document: ReportDocument) {
        try await withLedger { ledger in
            let timed = try await seconds { try await ledger.report(question) }
            return (timed.seconds, timed.result)
        }
    }

    // In a session of its own, like the report.
    private func rows(
        of sql: String,
        as report: ReportDocument
    ) async throws -> (seconds: Double, rows: [String]) {
        let begin = ContinuousClock.now
        let session = try await PostgresSession.connect(settings)
        try await session.execute("SET TIME ZONE 'UTC'; SET jit = off")
        let rows = try await session.query(
            """
            WITH asked AS (SELECT $1::date, $2::date, $3::text, $4::timestamptz)
            \(sql) LIMIT \(ReportBench.rowsMax)
            """,
            [
                .text(report.from), .text(report.to), .text(report.environment.word),
                .timestamptz(microseconds: report.asOf.milliseconds * 1000),
            ]
        )
        await session.close()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        return (seconds, try rows.map { try $0.text(0) })
    }

    private static func compare(_ report: ReportDocument, _ rows: [String]) throws {
        // The query has no marks, and no rows of zeros for months without anything. Installs are
        // not given.
        let numbers = report.columns.filter {
            ($0.kind == .count || $0.kind == .money) && !$0.name.hasSuffix("_number")
        }
        let found = report.rows.filter { row in
            numbers.contains { ![.integer(0), ReportValue.none].contains(row[$0.jsonName]) }
        }
        .map { row in
            report.columns.filter { $0.kind != .flag }.map { column in
                switch row[column.jsonName] {
                case .text(let text): text
                case .integer(let number), .hundredths(let number): "\(number)"
                case nil, .some(.none), .flag: ""
                }
            }.joined(separator: "|")
        }
        guard found.sorted() == rows.sorted() else {
            let odd = Set(found).symmetricDifference(rows).sorted().prefix(4)
            throw Failure(
                Exit.internalError,
                "report \(report.name): \(found.count) rows, and \(rows.count) by hand-written "
                    + "SQL; they differ in "
                    + odd.joined(separator: "  ")
            )
        }
    }

    private func measureExport(into results: inout ReportBenchResults) async throws {
        let folder = try URL.benchFolder().path
        var request = ExportRequest(folder: folder + "/export")
        request.tables = ["transactions"]
        let asked = request
        let export = try await seconds { try await withLedger { try await $0.export(asked) } }
        let plain = try await seconds { try await copy(to: folder + "/transactions.csv") }
        results.exports.append(export.seconds)
        results.copies.append(plain.seconds)
        results.rows = export.result.tables.map(\.rows).reduce(0, +)
        results.copiedBytes = plain.result
        try FileManager.default.removeItem(atPath: folder)
    }

    private func copy(to path: String) async throws -> Int {
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw Failure(Exit.internalError, "\(path) cannot be made")
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let session = try await PostgresSession.connect(settings)
        try await session.execute("SET TIME ZONE 'UTC'; SET jit = off")
        let written = try await session.copyOut(
            "COPY (SELECT * FROM analytics.transactions) TO STDOUT (FORMAT CSV, HEADER)",
            into: (bytes: 0, pending: Data())
        ) { (state, piece) throws(CopyFailure) in
            state.pending.append(contentsOf: piece)
            state.bytes += piece.count
            guard state.pending.count >= 1 << 20 else { return }
            do {
                try file.write(contentsOf: state.pending)
            } catch {
                throw CopyFailure.file("\(error)")
            }
            state.pending.removeAll(keepingCapacity: true)
        }
        try file.write(contentsOf: written.pending)
        try file.close()
        await session.close()
        return written.bytes
    }

    private func withLedger<Answer>(
        _ body: (Ledger) async throws -> Answer
    ) async throws -> Answer {
        let ledger = Ledger(
            log: try await EventLog.open(settings),
            verifier: AppStoreVerifier(policy: VerificationPolicy())
        )
        do {
            let answer = try await body(ledger)
            await ledger.close()
            return answer
        } catch {
            await ledger.close()
            throw error
        }
    }
}

/// Why the copy that an export is compared with failed.
private enum CopyFailure: Error, PostgresErrorConvertible {
    case file(String)
    case database(PostgresError)

    init(_ error: PostgresError) {
        self = .database(error)
    }
}
