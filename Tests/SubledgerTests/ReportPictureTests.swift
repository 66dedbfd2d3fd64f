import Events
import Foundation
import TestSupport
import Testing

@testable import Subledger

/// The pictures of reports, as pages and terminals draw them; the rows are made up.
struct ReportPictureTests {
    private typealias Row = [String: ReportValue]

    @Test func `pictures are those kept`() throws {
        let kept: [(String, ReportDocument)] = try [
            ("a stock", Self.stock()),
            ("a flow with an amount below zero, of which the last month is not whole", Self.flow()),
            ("a heat map: the last cohort is not whole", Self.cohorts()),
            ("shares over periods of two lengths", Self.curves()),
            ("many lines: counts", Self.manyCounts()),
            ("many lines: shares", Self.manyShares()),
            ("bars", Self.bars()),
        ]
        let texts = kept.map { name, report in
            (name, ReportPage(report).numbers.map(\.text).filter { !$0.contains("<table") })
        }
        let blocks = kept.map { name, report in
            ("\(name), in a terminal", ReportChart(report)?.blocks ?? [])
        }
        let all = (texts + blocks).filter { !$1.isEmpty }
            .map { (name: $0, text: $1.joined(separator: "\n")) }
        try Golden.compare(all, with: "pictures.txt")
    }

    @Test func `nothing is drawn where there is no number`() throws {
        let curves = try Self.curves()
        let page = ReportPage(curves).text
        let shares = curves.rows.count { $0["retainedPercent"] != ReportValue.none }
        #expect(shares == curves.rows.count - 1)
        #expect(page.matches(of: /<circle [^>]*><title>/).count == shares)
        // The third period of months has no row, the second of weeks no share.
        let lines = page.matches(of: /<path class="line[^"]*" d="([^"]*)"/).map { "\($0.1)" }
            .filter { $0.contains("M") && !$0.contains("H34") }
        #expect(lines.map { $0.count { $0 == "M" } } == [2, 2], "\(lines)")
        let cohorts = try Self.cohorts()
        let map = ReportPage(cohorts).text
        #expect(map.components(separatedBy: "<g><title>").count - 1 == cohorts.rows.count)
        let hollow = cohorts.rows.count(where: \.isPartial)
        #expect(hollow > 0)
        // One is the sample in the legend.
        #expect(map.components(separatedBy: "\"cell hollow\"").count - 1 == hollow + 1)
    }

    @Test(arguments: 9...11)
    func `more than eight lines of counts are eight and the exact sum of the others`(
        count: Int
    ) throws {
        let report = try Self.manyCounts(count)
        let panel = try #require(ReportChart(report)?.panels.drawn.first)
        #expect(panel.series.count == 9 && panel.omitted == 0)
        #expect(panel.series.dropLast().allSatisfy { !$0.isRest })
        let others = try #require(panel.series.last)
        #expect(others.isRest && others.name == (count == 9 ? "1 other" : "\(count - 8) others"))
        for (place, day) in panel.places.enumerated() {
            let all = report.rows.filter { $0["day"] == day }.compactMap {
                $0["activePaid"]?.number
            }
            #expect(all.count == count)
            #expect(panel.series.compactMap { $0.values[place] }.reduce(0, +) == all.reduce(0, +))
            let smallest = all.sorted().prefix(count - 8)
            #expect(others.values[place] == smallest.reduce(0, +))
        }
        #expect(try Self.panel(Self.manyCounts(8)).series.count == 8)
    }

    @Test func `of shares the eight of the most things are drawn, and the others counted`() throws {
        let report = try Self.manyShares()
        let panel = try Self.panel(report)
        #expect(panel.omitted == 2 && panel.series.count == 8)
        #expect(panel.series.map(\.name) == (3...10).reversed().map { "plan\($0)" })
        let page = ReportPage(report).text
        #expect(
            page.contains(
                "8 lines, those with the greatest payments count, are drawn; the table has 2 more"
            )
        )
    }

    @Test func `currencies and lengths have a scale of their own, and money is not mixed`() throws {
        let stock = try #require(ReportChart(try Self.stock()))
        #expect(stock.panels.drawn.map { Array($0.names.values) } == [["EUR"], ["JPY"]])
        #expect(stock.panels.drawn.map(\.scale.top) == [15_000_000, 200_000])
        let curves = try #require(ReportChart(try Self.curves()))
        #expect(curves.panels.drawn.map(\.places.count) == [4, 3])
    }

    private static let scales: [(Report.Column.Kind, [Int64], String)] = [
        (.count, [0, 148], "0 50 100 150"), (.count, [], "0 1"), (.count, [3], "0 1 2 3"),
        (.count, [12, 34_567], "0 10,000 20,000 30,000 40,000"),
        (.money, [2_999, 67_231_000], "0 20,000 40,000 60,000 80,000"),
        (.money, [-1_200_000, 3_000_000], "-2,000 -1,000 0 1,000 2,000 3,000"),
        (.percent, [2_143], "0 % 5 % 10 % 15 % 20 % 25 %"),
        (.percent, [85], "0 % 0.20 % 0.40 % 0.60 % 0.80 % 1 %"),
        (.percent, [10_000], "0 % 20 % 40 % 60 % 80 % 100 %"),
    ]

    @Test(arguments: scales)
    func `a scale begins at zero or below, with round steps`(
        kind: Report.Column.Kind,
        values: [Int64],
        wanted: String
    ) {
        let scale = ReportScale(values, of: kind, isWhole: false)
        #expect(scale.ticks.map(scale.words).joined(separator: " ") == wanted)
        #expect(values.allSatisfy { (0...1).contains(scale.part(Double($0))) })
    }

    @Test func `a title says what, the unit, the scope and when`() throws {
        func title(_ report: ReportDocument) throws -> String {
            let chart = try #require(ReportChart(report))
            return chart.title(of: try #require(chart.panels.drawn.first))
        }
        #expect(
            try title(Self.stock(to: "2026-02-28"))
                == "Monthly recurring revenue, EUR, Production, 2025-01 to 2026-02, "
                + "at the end of each month"
        )
        #expect(
            try title(Self.curves())
                == "Share of subscriptions with paid access, Production, 2026-01 to 2026-04, "
                + "by period of 1 month after the first payment"
        )
        // A report that declares nothing is drawn by the kinds of its columns.
        #expect(
            try title(Self.flow())
                == "Some movement: closing, EUR, Sandbox, 2026-01-01 to 2026-03-10, by month"
        )
    }

    @Test func `weeks are drawn at their Mondays, each month named once`() throws {
        let mondays = try #require(Instant("2026-01-05")).milliseconds
        let rows = (0..<30).filter { $0 != 7 }.map { week in
            let monday = Instant(milliseconds: mondays + Int64(week) * 7 * Instant.dayLength)
            return Self.row(
                ["week": monday.day],
                ["paymentsCount": 100 + week],
                shares: [
                    "automaticPercent": 5_000 + week * 10
                ]
            )
        }
        let report = try Self.report(
            "renewals",
            [.week],
            from: "2026-01-05",
            to: "2026-07-29",
            rows
        )
        let panel = try Self.panel(report)
        #expect(panel.places.count == 30 && panel.series[0].values[7] == nil)
        let page = ReportPage(report).text
        let title = "Share of payments that are automatic, Production, 2026-01-05 to 2026-07-29, "
        #expect(page.contains(title + "by week"))
        #expect(page.contains("hollow: only a part of the week is counted"))
        let names = page.matches(of: /text-anchor="middle"[^>]*>([A-Z][a-z]{2} 2026)</).map(\.1)
        #expect(
            names == [
                "Jan 2026", "Feb 2026", "Mar 2026", "Apr 2026", "May 2026", "Jun 2026", "Jul 2026",
            ]
        )
    }

    @Test(arguments: [
        ("0", "0"), ("999", "999"), ("1000", "1,000"), ("-1348 JPY", "-1,348 JPY"),
        ("1234567.89 EUR", "1,234,567.89 EUR"), ("100.00 %", "100.00 %"), ("–", "–"), ("", ""),
        ("\(Int64.min)", "-9,223,372,036,854,775,808"),
    ])
    func `a number for readers has commas`(number: String, wanted: String) {
        #expect(number.grouped == wanted)
    }

    @Test func `commas are on the page and in the table, and in no file for programs`() throws {
        let report = try Self.stock()
        #expect(ReportPage(report).text.contains("<td class=\"number\">12,345.67 EUR</td>"))
        #expect("\(report.text)".contains("12,345.67 EUR"))
        #expect(report.csv.contains("12345670") && !report.csv.contains("12,345"))
        let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(json.contains("12345670"))
        let again = try JSONDecoder().decode(ReportDocument.self, from: Data(json.utf8))
        #expect(again == report)
    }

    @Test func `a share with decimals is decoded as it was encoded`() throws {
        let values: [ReportValue] = [
            .hundredths(8_125), .hundredths(1), .integer(.max), .none, .text("P1M"), .flag(true),
        ]
        let json = try JSONEncoder().encode(values)
        #expect(try JSONDecoder().decode([ReportValue].self, from: json) == values)
    }
}

extension ReportPictureTests {
    private static func panel(_ report: ReportDocument) throws -> ReportChart.Panel {
        try #require(ReportChart(report)?.panels.drawn.first)
    }

    private static func row(
        _ texts: [String: String],
        _ counts: [String: Int],
        shares: [String: Int?] = [:]
    ) -> Row {
        var row: Row = texts.mapValues { .text($0) }
        for (name, count) in counts { row[name] = .integer(Int64(count)) }
        for (name, share) in shares {
            row[name] = share.map { .hundredths(Int64($0)) } ?? ReportValue.none
        }
        return row
    }

    private static func stock(to: String = "2026-02-10") throws -> ReportDocument {
        let ends = ReportSpan(from: "2025-01-01", to: to, asOf: try #require(Instant(to))).monthEnds
        var rows: [Row] = []
        for (index, day) in ends.enumerated() {
            for (currency, amount) in [
                ("EUR", 12_345_670 - index * 700_000), ("JPY", index * 15_000),
            ] {
                let counts = [
                    "activePaid": 40 + index, "mrrMilliunits": amount, "arrMilliunits": 0,
                ]
                rows.append(row(["day": day.words, "currency": currency], counts))
            }
        }
        return try report("mrr", [], from: "2025-01-01", to: to, rows)
    }

    private static func flow() throws -> ReportDocument {
        let columns = ["opening_milliunits", "closing_milliunits"].map(Report.Column.number)
        let rows = [-250_000, 1_000_500, 400_000].enumerated().map { index, amount in
            row(
                ["month": "2026-0\(index + 1)", "currency": "EUR"],
                ["openingMilliunits": 7_000, "closingMilliunits": amount]
            )
        }
        return try report(
            "some-movement",
            [.month],
            from: "2026-01-01",
            to: "2026-03-10",
            in: .sandbox,
            columns: [.key("month"), .key("currency")] + columns,
            rows
        )
    }

    private static func cohorts() throws -> ReportDocument {
        var rows: [Row] = []
        for month in 1...4 {
            for period in 1...(6 - month) {
                let counts = [
                    "periodNumber": period, "hadOpportunity": 20, "retained": 10,
                    "retainedPending": 0,
                ]
                let share = 10_300 - period * 1_150 - month * 300
                let texts = ["month": "2026-0\(month)", "periodLength": "P1M"]
                rows.append(row(texts, counts, shares: ["retainedPercent": share]))
            }
        }
        return try report("retention", [.month], from: "2026-01-01", to: "2026-04-20", rows)
    }

    private static func curves() throws -> ReportDocument {
        let shares: [(String, Int, Int?)] = [
            ("P1M", 1, 8_000), ("P1M", 2, 6_050), ("P1M", 4, 5_000), ("P1W", 1, 9_000),
            ("P1W", 2, nil), ("P1W", 3, 7_000),
        ]
        let rows = shares.map { length, period, share in
            let counts = [
                "periodNumber": period, "hadOpportunity": length == "P1M" ? 200 : 20,
                "retained": 10, "retainedPending": 0,
            ]
            return row(["periodLength": length], counts, shares: ["retainedPercent": share])
        }
        return try report("retention", [], from: "2026-01-01", to: "2026-04-30", rows)
    }

    // Plan n has n times as many subscriptions as the first one.
    private static func manyCounts(_ count: Int = 10) throws -> ReportDocument {
        var rows: [Row] = []
        for plan in 1...count {
            for (index, day) in ["2026-01-31", "2026-02-28"].enumerated() {
                let texts = ["productId": "com.example.plan\(plan)", "day": day]
                rows.append(row(texts, ["activePaid": plan * 1_000 + index * 7]))
            }
        }
        return try report("active", [.product], from: "2026-01-01", to: "2026-02-28", rows)
    }

    // Plan n has n times as many payments as the first one, and a smaller share.
    private static func manyShares() throws -> ReportDocument {
        var rows: [Row] = []
        for plan in 1...10 {
            for month in ["2026-01", "2026-02"] {
                let texts = ["productId": "com.example.plan\(plan)", "month": month]
                let shares = ["automaticPercent": 10_000 - plan * 250]
                rows.append(row(texts, ["paymentsCount": plan * 1_000], shares: shares))
            }
        }
        let by: [Report.Dimension] = [.month, .product]
        return try report("renewals", by, from: "2026-01-01", to: "2026-02-28", rows)
    }

    private static func bars() throws -> ReportDocument {
        let rows = (1...32).map { number in
            row(
                [
                    "previousProductId": "com.example.plan\(number)",
                    "productId": "com.example.pro", "planChange": "upgrade",
                ],
                ["planChangesCount": number * 125, "subscriptionsCount": 1]
            )
        }
        return try report("switches", [], from: "2026-01-01", to: "2026-02-28", rows)
    }

    private static func report(
        _ name: String,
        _ by: [Report.Dimension],
        from: String,
        to: String,
        in environment: StoreEnvironment = .production,
        columns: [Report.Column]? = nil,
        _ rows: [Row]
    ) throws -> ReportDocument {
        let columns = try columns ?? #require(Report.named(name)).columns(by: by)
        let end = try #require(Instant(to))
        let asOf = Instant(milliseconds: end.milliseconds + Instant.dayLength)
        let marked = ReportRows(
            rows,
            columns: columns,
            span: ReportSpan(from: from, to: to, asOf: asOf)
        ).marked
        return ReportDocument(
            name: name,
            version: 1,
            definition: "Made up.",
            environment: environment,
            from: from,
            to: to,
            asOf: asOf,
            by: by,
            positions: ["0": 1],
            catalogVersion: 0,
            folds: [:],
            money: nil,
            erasures: 0,
            refusedSubscriptions: 0,
            command: nil,
            isComplete: true,
            columns: marked.columns,
            rows: marked.rows
        )
    }
}
