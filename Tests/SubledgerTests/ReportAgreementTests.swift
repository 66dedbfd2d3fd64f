import AppStoreSimulator
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// Reports agree with each other, with the views and with plain SQL over the tables.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportAgreementTests {
    @Test func `a free trial is a trial by whatever offer, in every report`() async throws {
        try await Analytics.withLedger { session, ledger in
            let trials = try await session.query(
                """
                SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE apple_offer_type <> 1))
                FROM projection.transactions
                WHERE offer_discount_type = 'FREE_TRIAL' AND NOT is_shared
                """
            ).single().text(0).split(separator: " ").map { Int64($0) ?? 0 }
            #expect(trials[1] > 0, "some trials are not introductory offers")
            let starts = try await Self.rows("trial-conversion", of: ledger, to: "2027-12-31")
            #expect(starts.reduce(0) { $0 + $1.number("trialStarts") } == trials[0])
            let days = try await session.query(
                "SELECT sum(trial_starts)::bigint FROM analytics.daily_snapshot"
            ).single().int8(0)
            #expect(days == trials[0])
            let journal = try await session.query(
                """
                SELECT count(*) FROM projection.movements WHERE NOT is_shared
                    AND apple_event_sub_type IN ('Free Trial Starts', 'Free Trial Renewals')
                """
            ).single().int8(0)
            #expect(journal == trials[0])
            // Whoever has access by a purchase of their own is in a column, unless it is free for good.
            let active = try await Self.rows("active", of: ledger, to: "2026-06-30")
            for row in active.suffix(24) {
                let running = try await session.query(
                    """
                    SELECT count(DISTINCT original_transaction_id) FROM projection.transactions
                    WHERE is_auto_renewable AND NOT is_shared
                        AND start_time < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
                        AND effective_end_time >= ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
                    """,
                    [.text(row["day"])]
                ).single().int8(0)
                #expect(row.number("activePaid") + row.number("activeTrial") == running, "\(row)")
            }
        }
    }

    @Test func `the probable refunds for upgrades are in a column, and in no total`() async throws {
        try await Analytics.withLedger { session, ledger in
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', to_char(effective_at AT TIME ZONE 'UTC', 'YYYY-MM'),
                    estimated_refund_currency,
                    sum(least(estimated_refund_milliunits, price)))
                FROM projection.plan_changes c
                CROSS JOIN LATERAL (
                    SELECT sum(t.price_milliunits)::bigint AS price
                    FROM projection.transactions t
                    WHERE t.original_transaction_id = c.original_transaction_id
                        AND t.product_identifier = c.previous_product_identifier
                        AND t.start_time <= c.effective_at AND t.end_time > c.effective_at
                ) t
                WHERE estimated_refund_milliunits > 0
                    AND least(estimated_refund_milliunits, price) > 0
                    AND environment = 'Production'
                    AND effective_at <= analytics.last_signed_at()
                GROUP BY to_char(effective_at AT TIME ZONE 'UTC', 'YYYY-MM'),
                    estimated_refund_currency
                """
            ).map { try $0.text(0) }
            let rows = try await Self.rows("revenue", of: ledger, to: "2027-12-31")
            let found = rows.filter { $0.number("upgradeRefundEstimateMilliunits") > 0 }.map {
                "\($0["month"]) \($0["currency"]) \($0["upgradeRefundEstimateMilliunits"])"
            }
            #expect(found.sorted() == expected.sorted())
            #expect(expected.count > 5)
            for row in rows {
                #expect(
                    row.number("grossMilliunits") - row.number("givenBackMilliunits")
                        == row.number("netMilliunits")
                )
            }
            // By product it belongs to what was replaced, by whatever breakdown the sum is the same.
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.to = Instant("2027-12-31")
            question.dimensions = [.product, .country, .offer]
            let parts = try await ledger.report(question).rows.map(ReportRow.init)
            let name = "upgradeRefundEstimateMilliunits"
            #expect(
                parts.reduce(0) { $0 + $1.number(name) } == rows.reduce(0) { $0 + $1.number(name) }
            )
            #expect(parts.allSatisfy { $0.number(name) == 0 || !$0["country"].isEmpty })
        }
    }

    @Test func `the first product and month of a subscription are the same in every report`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', to_char(f.start_time AT TIME ZONE 'UTC', 'YYYY-MM'),
                    f.product_identifier, count(*))
                FROM (
                    SELECT DISTINCT ON (original_transaction_id) start_time, product_identifier
                    FROM projection.transactions
                    WHERE is_auto_renewable AND NOT is_shared AND NOT is_trial_period
                        AND offer_discount_type IS DISTINCT FROM 'FREE_TRIAL'
                        AND purchase_price_milliunits <> 0 AND environment = 'Production'
                        AND start_time <= analytics.last_signed_at()
                    ORDER BY original_transaction_id, start_time, ordinal
                ) f GROUP BY to_char(f.start_time AT TIME ZONE 'UTC', 'YYYY-MM'),
                    f.product_identifier
                """
            ).map { try $0.text(0) }.sorted()
            #expect(expected.count > 20)
            for (name, axis, first, count) in [
                ("cancelled-in-period", "periodNumber", "1", "enteredPeriod"),
                ("cohorts", "monthNumber", "0", "subscriptionsCount"),
            ] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = [.month, .product]
                question.to = Instant("2027-12-31")
                var counts: [String: Int64] = [:]
                for row in try await ledger.report(question).rows.map(ReportRow.init)
                where row[axis] == first {
                    counts["\(row["month"]) \(row["productId"])", default: 0] += row.number(count)
                }
                let found = counts.map { "\($0) \($1)" }.sorted()
                #expect(found == expected, "\(name)")
            }
        }
    }

    @Test func `a first purchase that was replaced in its second is the first in every report`()
        async throws
    {
        let (monthly, pro) = (SimulatedCatalog.lumen[2], SimulatedCatalog.lumen[0])
        let days = ["2026-01-01", "2026-01-14T12:00:00Z", "2026-01-15"].compactMap { Instant($0) }
        let life = try SubscriptionLife(
            identity: LifeIdentity(seed: 15, index: 1, storefront: SimulatedStorefront.all[0]),
            store: FilledLedger.simulator.store,
            script: [
                .subscribe(monthly, offer: .free(.weeks(2)), at: days[0]), .renew(at: days[1]),
                .changeNow(to: pro, offer: nil, at: days[2]),
            ]
        )
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            try await ledger.ingest(life.notifications())
            _ = try await ledger.projector.rebuild()
            for name in ["retention", "cancelled-in-period", "cohorts"] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = [.product]
                question.to = Instant("2026-12-31")
                let products = try await ledger.report(question).rows.map(ReportRow.init)
                    .map { $0["productId"] }
                // No month of it has passed, so retention has no row of it yet.
                #expect(
                    Set(products) == (name == "retention" ? [] : [monthly.id]),
                    "\(name): \(products)"
                )
            }
            await ledger.log.close()
        }
    }

    @Test func `a cohort is drawn up to the newest month, and not beyond`() async throws {
        try await Analytics.withLedger { _, ledger in
            let question = ReportQuestion(try #require(Report.named("cohorts")))
            let report = try await ledger.report(question)
            let lines = Self.lines(report)
            let title = "Paid and not given back, "
            let heading = try #require(lines.firstIndex { $0.hasPrefix(title) })
            let pictures = lines[heading...].filter { $0.hasPrefix(" ") }
            #expect(pictures.count > 6)
            let last = Self.month(report.to)
            for picture in pictures {
                let blocks = picture.dropFirst().prefix { "▁▂▃▄▅▆▇█".contains($0) }
                let name = try #require(picture.split(separator: " ").last)
                #expect(blocks.count == last - Self.month("\(name)") + 1, "\(picture)")
            }
            let page = ReportPage(report).text
            #expect(page.components(separatedBy: "<g><title>").count - 1 == Self.cells(report))
        }
    }

    @Test func `the ends of months are drawn at their days, with their numbers`() async throws {
        try await Analytics.withLedger { _, ledger in
            let report = try await ledger.report(
                ReportQuestion(try #require(Report.named("active")))
            )
            let lines = Self.lines(report)
            let heading = try #require(
                lines.firstIndex { $0.hasPrefix("Subscriptions with a running paid purchase") }
            )
            let picture = lines[heading + 1].dropFirst().prefix { "▁▂▃▄▅▆▇█".contains($0) }
            #expect(picture.count == report.rows.count, "\(lines[heading])")
            #expect(picture.contains { $0 != "▁" }, "\(picture)")
        }
    }

    private static func lines(_ report: ReportDocument) -> [String] {
        report.text.compactMap { block in
            guard case .line(let line) = block else { return nil }
            return line
        }
    }

    // The cells that are drawn: of each cohort of each currency, up to the newest month.
    private static func cells(_ report: ReportDocument) -> Int {
        Set(report.rows.map(ReportRow.init).map { [$0["currency"], $0["month"]] })
            .reduce(0) { $0 + month(report.to) - month($1[1]) + 1 }
    }

    // The number of a month since year 0.
    private static func month(_ day: String) -> Int {
        let parts = day.split(separator: "-").compactMap { Int($0) }
        return parts[0] * 12 + parts[1]
    }

    @Test func `a month without anything has a row of zeros`() async throws {
        try await Analytics.withLedger { _, ledger in
            for name in ["revenue", "renewals", "churn", "refund-rate", "trial-conversion", "ltv"] {
                var question = ReportQuestion(try #require(Report.named(name)))
                question.dimensions = [.month]
                let report = try await ledger.report(question)
                let rows = report.rows.map(ReportRow.init)
                let expected = Self.month(report.to) - Self.month(report.from) + 1
                for (currency, months) in Dictionary(grouping: rows, by: { $0["currency"] }) {
                    #expect(months.count == expected, "\(name) \(currency)")
                }
                let isSorted = zip(rows, rows.dropFirst()).allSatisfy {
                    ($0["month"], $0["currency"]) < ($1["month"], $1["currency"])
                }
                #expect(isSorted, "\(name)")
            }
        }
    }

    @Test func `no row of retention mixes periods of different lengths`() async throws {
        try await Analytics.withLedger { session, ledger in
            let lengths = try await session.query(
                "SELECT DISTINCT product_identifier || ' ' || product_duration "
                    + "FROM projection.transactions WHERE product_duration IS NOT NULL"
            ).map { try $0.text(0) }
            for name in ["retention", "cancelled-in-period"] {
                for by in [[], [.month], [.product]] as [[Report.Dimension]] {
                    var question = ReportQuestion(try #require(Report.named(name)))
                    question.dimensions = by
                    let rows = try await ledger.report(question).rows.map(ReportRow.init)
                    #expect(Set(rows.map { $0["periodLength"] }).count > 2, "\(name)")
                    for row in rows where by == [.product] {
                        #expect(lengths.contains("\(row["productId"]) \(row["periodLength"])"))
                    }
                }
            }
            // The third period of three weeks and that of three years end at different times.
            var question = ReportQuestion(try #require(Report.named("retention")))
            question.dimensions = []
            let all = try await ledger.report(question).rows.map(ReportRow.init)
            question.dimensions = [.product]
            let parts = try await ledger.report(question).rows.map(ReportRow.init)
            for row in all {
                let same = parts.filter {
                    $0["periodNumber"] == row["periodNumber"]
                        && lengths.contains("\($0["productId"]) \(row["periodLength"])")
                }
                let sum = same.reduce(0) { $0 + $1.number("hadOpportunity") }
                #expect(row.number("hadOpportunity") == sum)
            }
        }
    }

    @Test func `churn is a share of those who were there, by every breakdown`() async throws {
        try await Analytics.withLedger { session, ledger in
            for by in [[.month], [.month, .product], [.product], []] as [[Report.Dimension]] {
                var question = ReportQuestion(try #require(Report.named("churn")))
                question.dimensions = by
                let rows = try await ledger.report(question).rows.map(ReportRow.init)
                // Nobody was there before the first purchase.
                #expect(rows.contains { $0.number("churnPercent") > 0 } == by.contains(.month))
                for row in rows where !row["churnPercent"].isEmpty {
                    #expect((0...10_000).contains(row.number("churnPercent")), "\(by) \(row)")
                }
            }
            let rows = try await Self.rows("churn", of: ledger, to: "2026-06-30")
            for row in rows where row.number("activeAtStart") > 0 {
                let gone = try await session.query(
                    """
                    WITH paid AS (
                        SELECT original_transaction_id AS id, start_time, effective_end_time
                        FROM analytics.transactions WHERE is_paid
                    ), b AS (
                        SELECT $1::date::timestamp AT TIME ZONE 'UTC' AS since,
                            ($1::date + interval '1 month') AT TIME ZONE 'UTC' AS until
                    )
                    SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE NOT EXISTS (
                        SELECT FROM paid q, b WHERE q.id = p.id
                            AND q.start_time < b.until AND q.effective_end_time >= b.until)))
                    FROM (SELECT DISTINCT id FROM paid, b
                        WHERE start_time < since AND effective_end_time >= since) p
                    """,
                    [.text(row["month"] + "-01")]
                ).single().text(0)
                #expect("\(row["activeAtStart"]) \(row["lostFromStart"])" == gone, "\(row)")
            }
        }
    }

    private static func rows(
        _ name: String,
        of ledger: Ledger,
        to: String
    ) async throws -> [ReportRow] {
        var question = ReportQuestion(try #require(Report.named(name)))
        question.to = Instant(to)
        return try await ledger.report(question).rows.map(ReportRow.init)
    }
}
