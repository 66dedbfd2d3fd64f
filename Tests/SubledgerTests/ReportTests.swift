import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Reports over the tables, and as the log knew at a position.
@Suite(.enabled { await TestServer.isAvailable })
struct ReportTests {
    @Test func `as known where the tables stand every report is the one of the tables`()
        async throws
    {
        for template in [FilledLedger.plain, FilledLedger.divided] {
            try await TestServer.shared.withDatabase(from: template) { settings in
                let ledger = try await FilledLedger.open(settings)
                _ = try await ledger.projector.rebuild()
                for report in Report.all {
                    let live = try await ledger.report(ReportQuestion(report))
                    var question = ReportQuestion(report)
                    question.knownAt = ReportTests.bound(live)
                    let known = try await ledger.report(question)
                    #expect(known == live, "\(report.name)")
                    // Nobody buys seats in this simulation.
                    #expect(live.rows.isEmpty == (report.name == "seats"), "\(report.name)")
                    #expect(live.command != nil, "\(report.name)")
                }
                await ledger.log.close()
            }
        }
    }

    @Test func `what was known at a position is the same bytes after more events and a rebuild`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Migrator.Layout())
            let ledger = try await FilledLedger.open(settings)
            let deliveries = FilledLedger.simulator.sampleHistory(count: 20).disordered(seed: 4)
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await ledger.projector.rebuild()
            var before: [ReportDocument] = []
            for report in Report.all {
                before.append(try await ledger.report(ReportQuestion(report)))
            }
            try await ledger.ingest(Array(deliveries.dropFirst(deliveries.count / 2)))
            _ = try await ledger.projector.rebuild()
            for (report, then) in zip(Report.all, before) {
                var question = ReportQuestion(report)
                question.knownAt = ReportTests.bound(then)
                let again = try await ledger.report(question)
                #expect(try ReportTests.bytes(again) == ReportTests.bytes(then), "\(report.name)")
                let now = try await ledger.report(ReportQuestion(report)).rows
                #expect((now == then.rows) == (report.name == "seats"), "\(report.name)")
            }
            await ledger.log.close()
        }
    }

    @Test func `a refund in February changes the row of January, not January as known before`()
        async throws
    {
        let simulator = FilledLedger.simulator
        let days = ["2026-01-05", "2026-02-04T12:00:00Z", "2026-02-20"].compactMap { Instant($0) }
        let life = try SubscriptionLife(
            identity: LifeIdentity(seed: 15, index: 1, storefront: SimulatedStorefront.all[0]),
            store: simulator.store,
            script: [
                .subscribe(SimulatedCatalog.lumen[2], offer: nil, at: days[0]),
                .renew(at: days[1]), .refund(purchase: 0, percentage: nil, at: days[2]),
            ]
        )
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            var january = ReportQuestion(try #require(Report.named("revenue")))
            january.from = Instant("2026-01-01")
            january.to = Instant("2026-01-31")
            try await ledger.ingest(life.notifications().dropLast())
            _ = try await ledger.projector.rebuild()
            let then = try await ledger.report(january)
            let row = ReportRow(values: try #require(then.rows.first))
            #expect(row.number("givenBackMilliunits") == 0 && row.number("netMilliunits") > 0)
            try await ledger.ingest(life.notifications().suffix(1))
            _ = try await ledger.projector.rebuild()
            // Nothing after the last day counts; a report that ends later has the refund.
            #expect(try await ledger.report(january).rows == then.rows)
            var february = january
            february.to = Instant("2026-02-28")
            let now = ReportRow(values: try #require(try await ledger.report(february).rows.first))
            #expect(now["month"] == "2026-01")
            #expect(now.number("grossMilliunits") == row.number("grossMilliunits"))
            #expect(now.number("netMilliunits") == 0)
            #expect(now.number("givenBackOnRefundDateMilliunits") == 0)
            try await ledger.ingest(Array(simulator.sampleHistory(count: 10)))
            _ = try await ledger.projector.rebuild()
            january.knownAt = ReportTests.bound(then)
            #expect(
                try ReportTests.bytes(try await ledger.report(january)) == ReportTests.bytes(then)
            )
            await ledger.log.close()
        }
    }

    @Test func `money by day of purchase and of refund is that of the daily snapshot`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', to_char(day, 'YYYY-MM'), currency, sum(gross_milliunits),
                    sum(net_milliunits), sum(given_back_milliunits))
                FROM analytics.daily_snapshot WHERE environment = 'Production'
                GROUP BY to_char(day, 'YYYY-MM'), currency
                HAVING sum(gross_milliunits) <> 0 OR sum(given_back_milliunits) <> 0
                """
            ).map { try $0.text(0) }
            let rows = try await ReportTests.rows("revenue", of: ledger)
            let found = rows.filter {
                $0.number("grossMilliunits") != 0
                    || $0.number("givenBackOnRefundDateMilliunits") != 0
            }.map { row in
                [
                    row["month"], row["currency"], row["grossMilliunits"], row["netMilliunits"],
                    row["givenBackOnRefundDateMilliunits"],
                ].joined(separator: " ")
            }
            #expect(found.sorted() == expected.sorted())
            #expect(found.count > 50)
        }
    }

    @Test func `what is active at the end of a month is what the daily snapshot counts there`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let names = ["activePaid", "activeTrial", "inGrace", "inRetry", "setToExpire"]
            let found = try await ReportTests.rows("active", of: ledger).map { row in
                ([row["day"]] + names.map { row[$0] }).joined(separator: " ")
            }
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', day, sum(active_paid), sum(active_trial), sum(in_grace),
                    sum(in_retry), sum(set_to_expire))
                FROM analytics.daily_snapshot d
                WHERE environment = 'Production' AND (extract(day FROM day + 1) = 1
                    OR day = ((SELECT analytics.last_signed_at()) AT TIME ZONE 'UTC')::date - 1)
                GROUP BY day
                HAVING sum(active_paid) + sum(active_trial) + sum(in_retry) > 0
                """
            ).map { try $0.text(0) }
            #expect(found.sorted() == expected.sorted())
            #expect(found.count > 20)
        }
    }

    @Test func `what is lost and comes back is what the daily snapshot counts, by every dimension`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let counts = [
                "lost", "resubscribed", "churnedVoluntary", "churnedInvoluntary", "churnedUnknown",
            ]
            var question = ReportQuestion(try #require(Report.named("churn")))
            question.dimensions = [.month, .product, .country, .offer]
            let found = try await ledger.report(question).rows.map(ReportRow.init).filter { row in
                counts.contains { row.number($0) > 0 }
            }.map { row in
                (["month", "productId", "country", "offerType"] + counts).map { row[$0] }
                    .joined(separator: " ")
            }
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', to_char(day, 'YYYY-MM'), product_identifier, country,
                    offer_type, sum(lost), sum(resubscribed), sum(churned_voluntary),
                    sum(churned_involuntary), sum(churned_unknown))
                FROM analytics.daily_snapshot WHERE environment = 'Production'
                GROUP BY to_char(day, 'YYYY-MM'), product_identifier, country, offer_type
                HAVING sum(lost + resubscribed + churned_voluntary + churned_involuntary
                    + churned_unknown) > 0
                """
            ).map { try $0.text(0) }
            #expect(found.sorted() == expected.sorted())
            #expect(found.count > 20)
        }
    }

    @Test func `every paid purchase is a payment that a customer made or an automatic one`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let rows = try await ReportTests.rows("renewals", of: ledger)
            let paid = Analytics.lives.flatMap { $0.tables(from: .unasked).transactions }
                .filter { ($0.purchasePriceMilliunits ?? 0) > 0 }
            let last = try await ReportTests.lastDay(of: "renewals", ledger)
            let count = paid.count { $0.startTime < last }
            #expect(rows.reduce(0) { $0 + $1.number("paymentsCount") } == Int64(count))
            for row in rows {
                #expect(
                    row.number("paymentsCount")
                        == row.number("originalPayments") + row.number("automaticPayments")
                )
            }
            let told = try await session.query(
                """
                SELECT count(*) FROM analytics.transactions
                WHERE is_paid AND transaction_reason = 'RENEWAL' AND start_time < $1
                """,
                [.timestamptz(microseconds: last.milliseconds * 1000)]
            ).single().int8(0)
            #expect(rows.reduce(0) { $0 + $1.number("automaticPayments") } == told)
        }
    }

    @Test func `payments by customer are those of their token, or of the subscription`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            var question = ReportQuestion(try #require(Report.named("payments")))
            question.to = Instant("2027-12-31")
            let rows = try await ledger.report(question).rows.map(ReportRow.init)
            let found = rows.map { row in
                [
                    row["customerId"], row["currency"], row["paymentsCount"], row["refundsCount"],
                    row["netMilliunits"],
                ].joined(separator: " ")
            }
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', coalesce(lower(app_account_token), original_transaction_id),
                    currency, count(*), count(refunded_at), sum(price_milliunits))
                FROM analytics.transactions
                WHERE purchase_price_milliunits > 0 AND ownership_type <> 'FAMILY_SHARED'
                    AND start_time <= (SELECT analytics.last_signed_at())
                GROUP BY coalesce(lower(app_account_token), original_transaction_id), currency
                """
            ).map { try $0.text(0) }
            #expect(found.sorted() == expected.sorted())
            #expect(rows.map { $0.number("paymentsCount") }.isDescending)
            let ltv = try await ReportTests.rows("ltv", of: ledger)
            #expect(ltv.reduce(0) { $0 + $1.number("paymentsCount") } > 0)
        }
    }

    @Test func `a switch counts at the products before and after, as the plan changes say`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let found = try await ReportTests.rows("switches", of: ledger).map { row in
                [
                    row["previousProductId"], row["productId"], row["planChange"],
                    row["planChangesCount"],
                ].joined(separator: " ")
            }
            let last = try await ReportTests.lastDay(of: "switches", ledger)
            let expected = try await session.query(
                """
                SELECT concat_ws(' ', previous_product_identifier, product_identifier, plan_change,
                    count(*))
                FROM projection.plan_changes
                WHERE effective_at < $1 AND environment = 'Production'
                    AND original_transaction_id NOT IN (
                        SELECT original_transaction_id FROM projection.transactions
                        WHERE ownership_type = 'FAMILY_SHARED')
                GROUP BY previous_product_identifier, product_identifier, plan_change
                """,
                [.timestamptz(microseconds: last.milliseconds * 1000)]
            ).map { try $0.text(0) }
            #expect(found.sorted() == expected.sorted())
            #expect(found.count > 3)
        }
    }

    @Test func `cohorts hold every payment, and recoveries every billing issue, once`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let paid = try await session.query(
                """
                SELECT count(*) FROM analytics.transactions
                WHERE is_paid AND start_time <= (SELECT analytics.last_signed_at())
                """
            ).single().int8(0)
            var question = ReportQuestion(try #require(Report.named("cohorts")))
            question.to = Instant("2027-12-31")
            let cohorts = try await ledger.report(question).rows.map(ReportRow.init)
            #expect(cohorts.reduce(0) { $0 + $1.number("paymentsCount") } == paid)
            question = ReportQuestion(try #require(Report.named("recovery")))
            question.to = Instant("2027-12-31")
            let rows = try await ledger.report(question).rows.map(ReportRow.init)
            let issues = try await session.query(
                """
                SELECT count(*) FILTER (WHERE movement = 'billing_issue_entered'),
                    count(*) FILTER (WHERE movement = 'billing_issue_recovered')
                FROM analytics.movements WHERE NOT is_family_shared
                """
            ).single()
            #expect(rows.reduce(0) { $0 + $1.number("entered") } == (try issues.int8(0)))
            #expect(rows.reduce(0) { $0 + $1.number("recovered") } == (try issues.int8(1)))
        }
    }

    @Test func `a reader asks, and without temporary tables only for what is live`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let owner = try await FilledLedger.open(settings)
            _ = try await owner.projector.rebuild()
            await owner.log.close()
            var reading = settings
            reading.role = "ledger_reader"
            let ledger = try await FilledLedger.open(reading)
            var question = ReportQuestion(try #require(Report.named("retention")))
            let live = try await ledger.report(question)
            question.knownAt = ReportTests.bound(live)
            #expect(try await ledger.report(question) == live)
            let session = try await PostgresSession.connect(settings)
            try await session.execute(
                """
                DO $$ BEGIN
                    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC',
                        current_database());
                END $$
                """
            )
            await session.close()
            let error = await #expect(throws: ProjectorError.self) {
                _ = try await ledger.report(question)
            }
            #expect(error?.code == .permissionDenied)
            #expect(error?.message.contains("GRANT TEMPORARY ON DATABASE") == true)
            question.knownAt = nil
            #expect(try await ledger.report(question) == live)
            await ledger.log.close()
        }
    }

    @Test func `a report that cannot be asked says why`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let retention = try #require(Report.named("retention"))
            func refusal(_ change: (inout ReportQuestion) -> Void) async -> QuestionError? {
                var question = ReportQuestion(retention)
                change(&question)
                return await #expect(throws: QuestionError.self) {
                    _ = try await ledger.report(question)
                }
            }
            #expect(await refusal { _ in }?.code == .tablesNotBuilt)
            #expect(await refusal { $0.dimensions = [.offer] }?.code == .unknownReport)
            #expect(await refusal { $0.dimensions = [.month, .month] }?.code == .unknownReport)
            #expect(await refusal { $0.limit = 0 }?.code == .unknownReport)
            #expect(
                await refusal {
                    $0.from = Instant("2025-02-02")
                    $0.to = Instant("2025-02-01")
                }?.code == .unknownReport
            )
            #expect(await refusal { $0.knownAt = .offsets([0: 1 << 40]) }?.code == .unknownPosition)
            #expect(
                await refusal {
                    $0.knownAt = .latest
                    $0.environment = .sandbox
                }?.code == .otherEnvironment
            )
            await ledger.log.close()
        }
    }

    private static func bound(_ report: ReportDocument) -> KnownAt {
        .offsets(
            Dictionary(
                uniqueKeysWithValues: report.positions.map { (Int($0.key) ?? -1, $0.value) }
            )
        )
    }

    private static func bytes(_ report: ReportDocument) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(report)
    }

    private static func rows(_ name: String, of ledger: Ledger) async throws -> [ReportRow] {
        let question = ReportQuestion(try #require(Report.named(name)))
        return try await ledger.report(question).rows.map(ReportRow.init)
    }

    // The end of the last day that a report counts where nothing is asked.
    private static func lastDay(of name: String, _ ledger: Ledger) async throws -> Instant {
        let question = ReportQuestion(try #require(Report.named(name)))
        let last = try #require(Instant(try await ledger.report(question).to))
        return Instant(milliseconds: last.milliseconds + 86_400_000)
    }
}

extension [Int64] {
    fileprivate var isDescending: Bool { zip(self, dropFirst()).allSatisfy { $0 >= $1 } }
}
