import AppStoreSimulator
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// New customers, when they first pay, and their share of the installs of a file.
@Suite(.enabled { await TestServer.isAvailable })
struct InitialConversionTests {
    private static let monthly = SimulatedCatalog.lumen[2]
    private static let counts = [
        "newCustomers", "had7Days", "payingWithin7Days", "payingWithin7DaysPercent", "had30Days",
        "payingWithin30Days", "payingWithin30DaysPercent", "installs", "initialConversionPercent",
    ]

    // Each is a customer; the last one is new after the report.
    private static func lives() throws -> [[LifeStep]] {
        try [
            // Pays on day 3.
            [
                .subscribe(monthly, offer: .free(.days(3)), at: at("2026-03-02")),
                .renew(at: at("2026-03-05")),
            ],
            // Leaves after the trial, comes back and pays on day 20.
            [
                .subscribe(monthly, offer: .free(.weeks(2)), at: at("2026-03-03")),
                .turnAutoRenewOff(at: at("2026-03-05")),
                .expire(.voluntary, at: at("2026-03-17T00:01:00Z")),
                .subscribe(monthly, offer: nil, at: at("2026-03-23")),
            ],
            // Never pays.
            [
                .subscribe(monthly, offer: .free(.weeks(1)), at: at("2026-03-04")),
                .turnAutoRenewOff(at: at("2026-03-06")),
                .expire(.voluntary, at: at("2026-03-11T00:01:00Z")),
            ],
            // Pays at once.
            [.subscribe(monthly, offer: nil, at: at("2026-03-06"))],
            // Pays when a week is over to the second; 30 days are not over by 10 April.
            [
                .subscribe(monthly, offer: .free(.weeks(1)), at: at("2026-03-25")),
                .renew(at: at("2026-04-01")),
            ],
            [.subscribe(monthly, offer: .free(.weeks(2)), at: at("2026-04-12"))],
        ]
    }

    @Test func `new customers count from their first purchase, and only for whom the time is over`()
        async throws
    {
        try await FilledLedger.withLives(Self.lives()) { ledger, session in
            let rows = try await Self.report(ledger).rows.map(ReportRow.init)
            #expect(rows.map { $0["month"] } == ["2026-03", "2026-04"])
            #expect(
                rows.map(Self.line) == [
                    "5 5 3 6000 4 3 7500 - -",
                    // Nothing happened in April; its installs are unknown.
                    "0 0 0 - 0 0 - - -",
                ]
            )
            let offers = try await Self.report(ledger) { $0.dimensions = [.offer] }
            #expect(
                offers.rows.map(ReportRow.init).map { "\($0["offerType"]) \(Self.line($0))" } == [
                    "free_trial 4 4 2 5000 3 2 6667 - -", "none 1 1 1 10000 1 1 10000 - -",
                ]
            )
            // A day earlier, the customer who pays on day 20 has not paid yet.
            let early = try await Self.report(ledger) {
                $0.to = Instant("2026-03-22")
                $0.dimensions = []
            }
            #expect(
                early.rows.map(ReportRow.init).map(Self.line) == ["4 4 2 5000 0 0 - - -"]
            )
            // A customer for whom another one pays is not new.
            try await session.execute(
                """
                UPDATE projection.transactions SET is_shared = true
                WHERE start_time = '2026-03-06T00:00:00Z'
                """
            )
            let shared = try await Self.report(ledger) { $0.dimensions = [] }
            #expect(
                shared.rows.map(ReportRow.init).map(Self.line) == ["4 4 2 5000 3 2 6667 - -"]
            )
        }
    }

    @Test func `installs of the file are summed by time and country`() async throws {
        try await FilledLedger.withLives(Self.lives()) { ledger, _ in
            var installs = ReportInstalls(file: "my installs.csv")
            for (day, country, count) in [
                ("2026-03-01", "USA", 100), ("2026-03-01", "USA", 40), ("2026-03-20", "DEU", 60),
                ("2026-04-02", "USA", 40), ("2026-05-01", "USA", 7),
            ] as [(String, String, Int64)] {
                installs.add(count, on: day, in: country)
            }
            let given = installs
            let report = try await Self.report(ledger) { $0.installs = given }
            #expect(
                report.rows.map(ReportRow.init).map(Self.line) == [
                    "5 5 3 6000 4 3 7500 200 250", "0 0 0 - 0 0 - 40 0",
                ]
            )
            #expect(report.command?.hasSuffix(" --installs 'my installs.csv'") == true)
            let source = try #require(report.installs)
            #expect(source.firstDay == "2026-03-01" && source.lastDay == "2026-05-01")
            #expect("\(report.text)".contains("installs of 2026-03-01 to 2026-05-01"))
            let countries = try await Self.report(ledger) {
                $0.installs = given
                $0.dimensions = [.month, .country]
            }
            #expect(
                countries.rows.map(ReportRow.init)
                    .map { "\($0["month"]) \($0["country"]) \(Self.line($0))" } == [
                        "2026-03 DEU 0 0 0 - 0 0 - 60 0", "2026-03 USA 5 5 3 6000 4 3 7500 140 357",
                        "2026-04 USA 0 0 0 - 0 0 - 40 0",
                    ]
            )
            // The log as it is known has the same numbers, and nothing changed since.
            let heads = try await ledger.log.heads().mapValues(\.offset)
            let known = try await Self.report(ledger) {
                $0.installs = given
                $0.knownAt = .offsets(heads)
            }
            #expect(known.rows == report.rows)
            var question = try Self.question()
            question.installs = given
            let changes = try await ledger.reportChanges(question, since: .offsets(heads))
            #expect(changes.rows.isEmpty)
        }
    }

    @Test func `installs are refused where they cannot be divided`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            var total = ReportInstalls(file: "installs.csv")
            total.add(5, on: "2026-03-01", in: "")
            for (name, by, words) in [
                ("revenue", [.month], "report revenue has no installs"),
                ("initial-conversion", [.month, .product], "cannot be broken down by product"),
                ("initial-conversion", [.offer], "cannot be broken down by offer"),
                ("initial-conversion", [.country], "the file has no column country"),
            ] as [(String, [Report.Dimension], String)] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = by
                question.installs = total
                let error = await #expect(throws: QuestionError.self) {
                    _ = try await ledger.report(question)
                }
                #expect(error?.code == .unknownReport)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
            await ledger.log.close()
        }
    }

    private static func line(_ row: ReportRow) -> String {
        counts.map { row[$0].isEmpty ? "-" : row[$0] }.joined(separator: " ")
    }

    private static func question() throws -> ReportQuestion {
        var question = ReportQuestion(try #require(Report.named("initial-conversion")))
        question.from = Instant("2026-03-01")
        question.to = Instant("2026-04-10")
        return question
    }

    private static func report(
        _ ledger: Ledger,
        _ change: (inout ReportQuestion) -> Void = { _ in }
    ) async throws -> ReportDocument {
        var question = try question()
        change(&question)
        return try await ledger.report(question)
    }

    private static func at(_ text: String) throws -> Instant { try #require(Instant(text)) }
}
