import CommandSupport
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

@testable import SubledgerCommand

#if canImport(FoundationXML)
import FoundationXML
#endif

/// What is printed of the difference of two builds: one document, a text and a page.
@Suite(.enabled { await TestServer.isAvailable })
struct DifferenceReportTests {
    @Test func `the document has the members that were promised`() async throws {
        try await withReport(of: DifferenceReportTests.wrongFold) { report in
            let text = try Terminal.text(json: report)
            let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
            #expect(!document.equal && document.streamsChanged > 0)
            #expect(document.streamsCompared >= document.streamsChanged)
            #expect(document.access.lostMs > 0 && document.access.gainedMs > 0)
            #expect(document.access.lostHours == Double(document.access.lostMs / 3600) / 1000)
            let periods = try #require(document.projections.first)
            #expect(periods.name == "active_periods")
            #expect(periods.oldVersion == 1)
            #expect(periods.newVersion == foldVersion(of: "active_periods"))
            let kinds = Set(periods.changes.keys)
            #expect(kinds == ["period-moved", "end-reason-changed", "period-added"])
            let moved = try #require(periods.changes["period-moved"])
            #expect(moved.rows >= moved.streams && moved.streams > 0)
            #expect(
                !document.money.isEmpty && document.money.allSatisfy { $0.gainedMilliunits > 0 }
            )
            for sample in document.samples { try check(sample) }
            #expect(document.samples.contains { $0.customer != nil })
            #expect(document.samples.count == min(10, document.streamsChanged))
        }
    }

    // Both sides tell of the instant at which they differ first.
    private func check(_ sample: Document.Sample) throws {
        let (old, new) = (try #require(sample.old.active), try #require(sample.new.active))
        let hadAccess = old.contains { $0[0] <= sample.at && sample.at < $0[1] }
        let hasAccess = new.contains { $0[0] <= sample.at && sample.at < $0[1] }
        #expect(sample.explain.old.access == hadAccess)
        #expect(sample.explain.new.entitled.access == hasAccess)
        #expect(hadAccess != hasAccess || old == new)
        #expect(!sample.explain.new.because.isEmpty)
        let row = try #require(sample.old.rows.first ?? sample.new.rows.first)
        #expect(!row.positions.isEmpty && !row.changes.isEmpty)
        if row.projection == "active_periods" {
            #expect(row.values.productId != nil && row.values.validFrom != nil)
        }
        if let old = sample.explain.old.row {
            #expect(sample.explain.old.because.map(\.position) == old.positions)
        }
    }

    @Test func `equal builds are reported in a word each`() async throws {
        try await withReport(of: []) { report in
            let text = try Terminal.text(json: report)
            let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
            #expect(document.equal && document.samples.isEmpty && document.money.isEmpty)
            #expect(document.projections.map(\.name) == allProjections.map(\.name))
            let lines = DifferenceText(report, style: .ascii, width: 100).text
            #expect(lines.hasPrefix("\(document.streamsCompared) streams compared, equal"))
            #expect(DifferencePage(report).text.contains("No differences."))
        }
    }

    @Test func `the text names what changed, whom and why`() async throws {
        try await withReport(of: DifferenceReportTests.wrongFold) { report in
            let ascii = DifferenceText(report, style: .ascii, width: 100).text
            #expect(ascii.utf8.allSatisfy { $0 < 128 }, "\(ascii)")
            let text = DifferenceText(report, style: .unicode, width: 100).text
            for sample in report.samples {
                #expect(text.contains(sample.difference.stream.originalTransactionId))
            }
            for word in [
                "streams compared", "access  ", "money (movements)  +", "period-moved",
                "renewal_states",
                "  old     access until", ": refunded",
                "subledger explain", "    − valid_to ", "    + valid_to ",
            ] { #expect(text.contains(word), "\(word)") }
        }
    }

    @Test func `the page stands alone, is well-formed and escapes what it is given`() async throws {
        let injection = "<script>alert(1)</script>&\"'"
        let sql =
            DifferenceReportTests.wrongFold + [
                "UPDATE old.active_periods SET product_identifier = $x$\(injection)$x$ WHERE ordinal = 1"
            ]
        try await withReport(of: sql) { report in
            let page = DifferencePage(report).text
            for word in [
                "http:", "https:", "//", "<script", "src=", "href=", "@import", "<link",
                "alert(1)</",
            ] {
                #expect(!page.contains(word), "\(word)")
            }
            #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;"))
            let reader = PageReader()
            let parser = XMLParser(data: Data(page.utf8))
            parser.delegate = reader
            #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
            // A picture each, besides that of the patterns, in which both sides differ.
            #expect(reader.counts["svg"] == report.samples.count + 1)
            #expect(reader.counts["article"] == report.samples.count)
            for kind in ["full", "grace", "hatch", "gained", "lost"] {
                #expect(reader.rects.contains(kind), "\(kind)")
            }
            #expect(reader.bareRects == 0, "every part of a picture has a title")
        }
    }

    @Test func `what JSON and the picture omit is reported`() async throws {
        let one = "(SELECT min(original_transaction_id) FROM old.active_periods)"
        let sql = [
            // Access long ago, which no picture of thirteen months shows.
            """
            INSERT INTO old.active_periods SELECT (jsonb_populate_record(p, jsonb_build_object(
                'ordinal', 1000, 'valid_from', timestamptz '2010-01-01Z',
                'valid_to', timestamptz '2010-02-01Z',
                'purchase_date_ms', 1262304000000, 'expires_date_ms', 1264982400000))).*
            FROM old.active_periods p WHERE ordinal = 1 AND original_transaction_id = \(one)
            """,
            """
            INSERT INTO old.renewal_states SELECT (jsonb_populate_record(s, jsonb_build_object(
                'ordinal', 1000 + n, 'valid_from', to_timestamp(n), 'valid_to', to_timestamp(n + 1)))).*
            FROM old.renewal_states s, generate_series(1, 70) AS n
            WHERE ordinal = 1 AND original_transaction_id = \(one)
            """,
            "UPDATE old.active_periods SET valid_to = valid_to + interval '1 ms' WHERE ordinal = 1",
        ]
        try await withReport(of: sql) { report in
            let text = DifferenceText(report, style: .unicode, width: 100).text
            #expect(text.contains(#/more rows; --json has the first 50 of \d\d/#), "\(text)")
            #expect(text.contains("of 2 spans that differ 1 are outside the picture"))
            let page = DifferencePage(report).text
            #expect(page.contains("of 2 spans that differ 1 are outside the picture"))
            // The total stands in words, not only in what the picture is called.
            let sample = try #require(report.samples.first)
            let words = try #require(sample.effects.first)
            #expect(page.contains("<li>access \(words.words)</li>") && words.words.contains("lost"))
            let document = try JSONDecoder().decode(
                Document.self,
                from: Data(try Terminal.text(json: report).utf8)
            )
            let rows = try #require(document.samples.first).old.rows.count
            #expect(rows <= StreamDifference.changesMax)
        }
    }

    @Test func `spans that a picture does not show are counted`() {
        func time(_ from: Int64, _ to: Int64) -> Range<Instant> {
            Instant(milliseconds: from)..<Instant(milliseconds: to)
        }
        let access = AccessDifference(from: [], to: [time(1, 2), time(5, 7), time(8, 20)])
        #expect(access.outside(time(0, 20)) == nil)
        #expect(
            access.outside(time(3, 9))
                == "of 3 spans that differ 1 are outside the picture, 1 extend beyond the picture"
        )
        let endless = AccessDifference(from: [time(1, 9)], to: [])
        #expect(
            endless.outside(time(0, 5)) == "the span that differs extends beyond the picture"
        )
    }

    @Test func `a name of a column is JSON's, a value one that people read`() {
        let names = [
            "purchase_date_ms": "purchaseDate", "start_time": "startTime", "kind": "kind",
            "_ms": "ms",
            "amount_milliunits": "amountMilliunits",
            "auto_renew_product_identifier": "autoRenewProductId",
            "is_auto_renew_on": "isAutoRenewOn",
        ]
        for (column, name) in names { #expect(ColumnWording(column: column).camelCase == name) }
        let instant = ColumnWording(column: "purchase_date_ms")
        #expect(instant.text(.integer(1_772_528_400_000)) == "2026-03-03 09:00:00")
        #expect(instant.text(.integer(.max)) == "\(Int64.max) ms")
        #expect(ColumnWording(column: "amount_milliunits").text(.integer(-9990)) == "-9.99")
        #expect(DifferenceWording.hours(3_600_000) == "1 h")
        #expect(DifferenceWording.hours(5_400_000) == "1.500 h")
        #expect(DifferenceWording.length(999) == "999 ms")
    }

    /// As if an older fold had let upgraded and refunded periods run on, known no grace, forgotten
    /// charges and taken auto-renewal for on.
    private static let wrongFold = [
        """
        UPDATE old.active_periods SET valid_to = to_timestamp(expires_date_ms / 1000), end_reason = 'expired'
        WHERE end_reason IN ('upgraded', 'refunded')
            AND valid_to < to_timestamp(expires_date_ms / 1000)
        """,
        "DELETE FROM old.active_periods WHERE kind = 'grace'",
        "DELETE FROM old.movements WHERE movement = 'conversion'",
        "UPDATE old.renewal_states SET is_auto_renew_on = true",
    ]
}

/// Counts the elements of a page.
private final class PageReader: NSObject, XMLParserDelegate {
    private(set) var counts: [String: Int] = [:]
    private(set) var rects: Set<String> = []
    private(set) var bareRects = 0
    private var hasTitle = true

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        counts[name, default: 0] += 1
        if name == "rect" {
            rects.insert(attributes["class"] ?? "")
            hasTitle = false
        }
        if name == "title" { hasTitle = true }
    }

    func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        if name == "rect", !hasTitle { bareRects += 1 }
    }
}

/// The JSON of a difference; decoding fails where a property has another name or type.
private struct Document: Decodable {
    let equal: Bool
    let streamsCompared: Int
    let streamsChanged: Int
    let access: Access
    let money: [Money]
    let projections: [Table]
    let samples: [Sample]

    struct Access: Decodable {
        let gainedHours: Double
        let lostHours: Double
        let gainedMs: Int64
        let lostMs: Int64
    }

    struct Money: Decodable {
        let currency: String?
        let gainedMilliunits: Int64
        let lostMilliunits: Int64
    }

    struct Table: Decodable {
        let name: String
        let oldVersion: Int?
        let newVersion: Int
        let changes: [String: Count]
        let columns: [String: Int]
        let columnsAdded: [String]
        let columnsRemoved: [String]
    }

    struct Count: Decodable {
        let rows: Int
        let streams: Int
    }

    struct Sample: Decodable {
        let originalTransactionId: String
        let environment: String
        let customer: String?
        let at: Int64
        let old: Side
        let new: Side
        let explain: Explanations
    }

    struct Side: Decodable {
        let active: [[Int64]]?
        let rows: [Row]
    }

    struct Row: Decodable {
        let projection: String
        let changes: [String]
        let columns: [String]
        let values: Values
        let positions: [Int64]
    }

    struct Values: Decodable {
        let productId: String?
        let validFrom: Int64?
    }

    struct Explanations: Decodable {
        let old: Old
        let new: New
    }

    struct Old: Decodable {
        let access: Bool?
        let row: Row?
        let because: [Cause]
    }

    struct New: Decodable {
        let entitled: Answer
        let because: [Cause]
    }

    struct Answer: Decodable {
        let access: Bool
    }

    struct Cause: Decodable {
        let position: Int64
    }
}

/// Rebuilds the shared simulation, copies its tables to schema `old`, alters these, and lends the
/// report.
private func withReport(
    of sql: [String],
    _ body: (DifferenceReport) throws -> Void
) async throws {
    let simulation = try await Simulation.shared
    try await withLedger { command, settings in
        try await command.expect(0, simulation.arguments + [simulation.payloads])
        try await command.expect(0, "rebuild", "--quiet")
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CREATE SCHEMA old")
        for name in allProjections.map(\.name) {
            try await session.execute("CREATE TABLE old.\(name) AS TABLE projection.\(name)")
        }
        for statement in sql { try await session.execute(statement) }
        let pairs = allProjections.map {
            TableDifference.Pair($0, old: "old", oldVersion: 1, new: "projection_1")
        }
        let difference = try await session.transaction(.readOnlySnapshot) {
            (session) throws(PostgresError) in
            try TableDifference.read(pairs, in: session)
        }
        await session.close()
        let ledger = try await Ledger.open(settings)
        let report = try await DifferenceReport(difference, in: ledger)
        await ledger.log.close()
        try body(report)
    }
}
