import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// What `changes` says of the money for a plan that another one replaced at once.
@Suite(.enabled { await TestServer.isAvailable })
struct PlanChangeRefundTests {
    @Test func `a refund that Apple signed is given with its amount`() async throws {
        let line = try await refund { content in
            content[.revocationDate] = Instant("2026-01-11").map { .instant($0) }
            content[.revocationType] = .text("REFUND_PRORATED")
            content[.revocationPercentage] = .integer(50_000)
        }
        #expect(
            line
                == "2026-01-11 00:00:00  Apple refunded 5.00 USD of monthly on 2026-01-11 00:00:00"
        )
    }

    @Test func `a refund that Apple signed of an unknown price is not called unsigned`()
        async throws
    {
        let line = try await refund(price: nil) { content in
            content[.revocationDate] = Instant("2026-01-11").map { .instant($0) }
            content[.revocationPercentage] = .integer(50_000)
        }
        #expect(
            line
                == "2026-01-11 00:00:00  Apple refunded monthly on 2026-01-11 00:00:00; the amount "
                + "is not known"
        )
    }

    @Test func `without a signed refund the amount is an estimate`() async throws {
        let estimate =
            "2026-01-11 00:00:00  Apple refunds the unused part of monthly, about 6.77 USD; Apple "
            + "signs no amount"
        let marked = try await refund { $0[.isUpgraded] = .boolean(true) }
        #expect(marked == estimate)
        // A revocation at the change without a type or a percentage has no amount either.
        let revoked = try await refund { content in
            content[.isUpgraded] = .boolean(true)
            content[.revocationDate] = Instant("2026-01-11").map { .instant($0) }
        }
        #expect(revoked == estimate)
    }

    @Test func `an old-style refund after an upgrade leaves nothing to estimate, as in reports`()
        async throws
    {
        for (date, words, estimated) in [
            ("2026-01-20", "Apple refunded 10.00 USD of monthly", [Int64]()),
            ("2026-01-11", "Apple refunds the unused part of monthly, about 6.77 USD", [6_774]),
        ] {
            try await withChange(signed: "2026-01-20T00:00:01Z") { content in
                content[.isUpgraded] = .boolean(true)
                content[.revocationDate] = Instant(date).map { .instant($0) }
            } then: { ledger in
                let changes = try await ledger.changes(of: "1000")
                #expect(changes.changes.compactMap(\.estimatedRefundMilliunits) == estimated)
                #expect(Self.refundLine(changes)?.contains(words) == true)
                let refunds = try await ledger.refunds(of: "1000")
                #expect(refunds.estimates.map(\.estimatedRefundMilliunits) == estimated)
                _ = try await ledger.projector.rebuild()
                var question = ReportQuestion(try #require(Report.named("revenue")))
                question.dimensions = []
                question.to = Instant("2026-02-10")
                let row = try await ledger.report(question).rows.map(ReportRow.init).first
                #expect(row?.number("upgradeRefundEstimateMilliunits") == estimated.first ?? 0)
                // The table has what the change of plan alone explains.
                #expect(
                    try await ledger.changes(of: "1000", at: Instant("2026-01-15")).changes
                        .compactMap(\.estimatedRefundMilliunits) == [6_774]
                )
            }
        }
    }

    // The line about the refund, after ten days of a month and a statement about it.
    private func refund(
        price: Int64? = 10_000,
        _ state: (inout Content) -> Void
    ) async throws -> String? {
        try await withChange(price: price, state) { ledger in
            let answer = try await ledger.changes(of: "1000")
            #expect(answer.changes.map(\.refundsPrevious) == [true])
            return Self.refundLine(answer)
        }
    }

    private static func refundLine(_ answer: ChangesDocument) -> String? {
        let blocks = ChangesQuestion.text(answer, QuestionInput("1000", now: .epoch))
        for case .line(let line) in blocks where line.contains("refund") { return line }
        return nil
    }

    private func withChange<Answer>(
        price: Int64? = 10_000,
        signed: String = "2026-01-11T00:00:01Z",
        _ state: (inout Content) -> Void,
        then body: (Ledger) async throws -> Answer
    ) async throws -> Answer {
        let month = ChargedFact.purchase("2026-01-01", to: "2026-02-01", price: price)
        var stated = month
        stated.signed = signed
        state(&stated.content)
        var next = ChargedFact.purchase("2026-01-11", to: "2026-02-11", price: 20_000)
        next.content[.productId] = .text("pro")
        return try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            for fact in [month, stated, next] { _ = try await log.append([try fact.verified()]) }
            let ledger = Ledger(log: log, verifier: try FilledLedger.simulator.verifier())
            let answer = try await body(ledger)
            await ledger.close()
            return answer
        }
    }
}
