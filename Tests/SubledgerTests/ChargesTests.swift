import EventLog
import Events
import Projections
import Subledger
import TestSupport
import Testing

/// What `charges` says of a customer's money, as sentences.
@Suite(.enabled { await TestServer.isAvailable })
struct ChargesTests {
    @Test func `charges, a refund and what is left are counted`() async throws {
        let answer = try await charges([
            .purchase("2026-01-01", to: "2026-02-01"),
            .purchase("2026-02-01", to: "2026-03-01", revoked: "2026-02-10"),
            .purchase("2026-03-01", to: "2026-04-01"),
        ])
        #expect(
            answer.summary
                == "3 charges, from 1 January 2026 to 1 March 2026: 29.97 USD, of which 9.99 USD was "
                + "refunded. Dates are in UTC."
        )
        #expect(answer.charges.map(\.refunds.count) == [0, 1, 0])
        #expect(answer.charges.map(\.reason) == ["first", "renewal", "renewal"])
        let total = try #require(answer.totals.first)
        #expect(answer.totals.count == 1)
        #expect(total.currency == "USD")
        #expect(total.chargeCount == 3)
        #expect(total.chargedMilliunits == 29970)
        #expect(total.refundedMilliunits == 9990)
        #expect(total.unknownCount == 0)
    }

    @Test func `two charges for one time name the two subscriptions`() async throws {
        let answer = try await charges([
            .purchase("2026-01-01", to: "2026-02-01", token: ChargedFact.token),
            .purchase("2026-01-10", to: "2026-02-10", of: "2000", token: ChargedFact.token),
        ])
        #expect(
            answer.summary
                == "2 charges, from 1 January 2026 to 10 January 2026: 19.98 USD. On 10 January "
                + "2026, monthly was charged although monthly was paid until 1 February 2026: these "
                + "are two subscriptions, 1000 and 2000, which Apple charges separately. "
                + "Dates are in UTC."
        )
    }

    @Test func `a refunded charge is no second charge`() async throws {
        let answer = try await charges([
            .purchase(
                "2026-01-01",
                to: "2026-02-01",
                revoked: "2026-01-11",
                token: ChargedFact.token
            ),
            .purchase("2026-01-10", to: "2026-02-10", of: "2000", token: ChargedFact.token),
        ])
        #expect(!answer.summary.contains("although"), "\(answer.summary)")
    }

    @Test func `renewal switched off after the last charge says so`() async throws {
        let before = ChargedFact.purchase("2026-01-01", to: "2026-02-01")
        let answer = try await charges([before, .turnedOff("2026-01-03")])
        #expect(
            answer.summary
                == "One charge, on 1 January 2026 for monthly: 9.99 USD. The last charge for monthly "
                + "was on 1 January 2026; renewal was switched off on 3 January 2026, after it; paid "
                + "until 1 February 2026. Dates are in UTC."
        )
    }

    @Test func `an end that was stated after the last period is not a cancellation`() async throws {
        let before = ChargedFact.purchase("2026-01-01", to: "2026-02-01")
        let answer = try await charges([before, .turnedOff("2026-04-02")])
        #expect(
            answer.summary.hasSuffix(
                "paid until 1 February 2026, and nothing was charged after that. Dates are in "
                    + "UTC."
            ),
            "\(answer.summary)"
        )
    }

    @Test func `a refund that ended the subscription is named, not the renewal it switched off`()
        async throws
    {
        let charged: [ChargedFact] = [
            .purchase("2026-01-01", to: "2026-02-01"),
            .purchase("2026-01-01", to: "2026-02-01", revoked: "2026-01-10"),
        ]
        let start = "One charge, on 1 January 2026 for monthly: 9.99 USD, of which 9.99 USD was "
        let last = "refunded. The last charge for monthly was on 1 January 2026; "
        for off in ["2026-01-10", "2026-01-11"] {
            let answer = try await charges(charged + [.turnedOff(off)])
            let end =
                "it was refunded on 10 January 2026, which ended the subscription. Dates "
                + "are in UTC."
            #expect(answer.summary == start + last + end, "\(off)")
        }
        let before = try await charges(charged + [.turnedOff("2026-01-03")])
        let end =
            "renewal was switched off on 3 January 2026, after it; that charge was refunded. "
            + "Dates are in UTC."
        #expect(before.summary == start + last + end)
    }

    @Test func `a refund without an amount, or of what was free, is not a refund of 0`()
        async throws
    {
        let cases: [(price: Int64?, words: String)] = [
            (0, "refunded 2026-01-10 00:00:00, nothing was paid"),
            (nil, "refunded 2026-01-10 00:00:00"),
        ]
        for (price, words) in cases {
            let answer = try await charges([
                .purchase("2026-01-01", to: "2026-02-01", price: price, revoked: "2026-01-10")
            ])
            let text = ChargesQuestion.text(answer, QuestionInput("1000", now: .epoch))
            let lines = text.map { "\($0)" }.joined(separator: "\n")
            #expect(lines.contains(words), "\(lines)")
            #expect(!lines.contains("refunded 0") && !lines.contains(", 0"), "\(lines)")
            #expect(!answer.summary.contains("0.00"), "\(answer.summary)")
        }
    }

    @Test func `family sharing and a free trial are not charges`() async throws {
        let shared = try await charges([
            .purchase("2026-01-01", to: "2026-02-01", ownership: "FAMILY_SHARED")
        ])
        #expect(shared.summary == "No charge is known.")
        #expect(shared.charges.isEmpty)
        let trial = try await charges([.purchase("2026-01-01", to: "2026-02-01", price: 0)])
        #expect(trial.summary == "No charge is known.")
        #expect(trial.charges.map(\.priceMilliunits) == [0])
    }

    @Test func `until an instant, later charges and refunds do not count`() async throws {
        let facts: [ChargedFact] = [
            .purchase("2026-01-01", to: "2026-02-01", revoked: "2026-02-10"),
            .purchase("2026-02-01", to: "2026-03-01"),
        ]
        let answer = try await charges(facts, at: Instant("2026-01-20"))
        #expect(
            answer.summary
                == "One charge up to 20 January 2026, on 1 January 2026 for monthly: 9.99 USD. Dates "
                + "are in UTC."
        )
    }

    private static let twice: [ChargedFact] = [
        .purchase("2026-01-01", to: "2026-02-01"), .purchase("2026-02-01", to: "2026-03-01"),
    ]

    @Test func `renewal switched off and on again before the last charge says so`() async throws {
        let switched: [ChargedFact] = [.turnedOff("2026-01-05T23:45"), .turnedOn("2026-01-20")]
        let berlin = try #require(QuestionZone("Europe/Berlin"))
        let answer = try await QuestionZone.$shown.withValue(berlin) {
            try await charges([Self.twice[0]] + switched + [Self.twice[1]])
        }
        let sentences =
            "2 charges, from 1 January 2026 to 1 February 2026: 19.98 USD. Renewal was switched off "
            + "on 6 January 2026 and on again on 20 January 2026, before the last charge for monthly "
            + "on 1 February 2026, which was a renewal."
        #expect(answer.summary == sentences + " Dates are in Berlin time.")
        let again = try await QuestionZone.$shown.withValue(berlin) {
            try await charges(
                [Self.twice[0]] + switched + [Self.twice[1], .turnedOff("2026-02-03")]
            )
        }
        #expect(
            again.summary
                == sentences
                + " Renewal was switched off on 3 February 2026, after it; paid until 1 March 2026. "
                + "Dates are in Berlin time."
        )
    }

    @Test func `renewal switched before an earlier charge is not named`() async throws {
        let answer = try await charges([
            Self.twice[0], .turnedOff("2026-01-05"), .turnedOn("2026-01-20"), Self.twice[1],
            .purchase("2026-03-01", to: "2026-04-01"),
        ])
        #expect(!answer.summary.contains("switched"), "\(answer.summary)")
    }

    @Test func `a subscription cancelled and bought again later was not renewed`() async throws {
        let before = ChargedFact.purchase("2026-01-01", to: "2026-02-01", token: ChargedFact.token)
        for id in ["1000", "2000"] {
            let bought = ChargedFact.purchase(
                "2026-03-01",
                to: "2026-04-01",
                of: id,
                token: ChargedFact.token
            )
            let cancelled = try await charges([before, .turnedOff("2026-01-05"), bought])
            #expect(
                cancelled.summary
                    == "2 charges, from 1 January 2026 to 1 March 2026: 19.98 USD. The last charge "
                    + "for monthly, on 1 March 2026, was for a new purchase and not a renewal: "
                    + "renewal had been switched off on 5 January 2026, and the subscription had "
                    + "ended. Dates are in UTC.",
                "\(id)"
            )
            let kept = try await charges([
                before, .turnedOff("2026-01-05"), .turnedOn("2026-01-20"), bought,
            ])
            #expect(
                kept.summary.contains("not a renewal: the subscription had ended."),
                "\(id): \(kept.summary)"
            )
        }
        let off = try await charges([
            before, .turnedOff("2026-01-05"), .purchase("2026-03-01", to: "2026-04-01"),
            .turnedOff("2026-03-05"),
        ])
        #expect(
            off.summary.hasSuffix(
                "and the subscription had ended. Renewal was switched off on 5 March 2026, after it; "
                    + "paid until 1 April 2026. Dates are in UTC."
            ),
            "\(off.summary)"
        )
    }

    @Test func `a product is called by its name in the catalog`() throws {
        let cases: [(names: [String], words: String)] = [
            (["Lumen Pro", "Lumen Plus"], "Lumen Pro"),
            (["Lumen", "Lumen"], "Lumen (monthly)"),
            ([], "monthly"),
        ]
        let month = try #require(SubscriptionPeriod("P1M"))
        for (names, words) in cases {
            let products = zip(["monthly", "yearly"], names).map { id, name in
                ProductCatalog.Subscription(
                    productId: id,
                    subscriptionGroupIdentifier: "20",
                    level: 1,
                    duration: month,
                    referenceName: "internal \(id)",
                    displayName: name
                )
            }
            let catalog = ProductCatalog(
                version: 1,
                effectiveFrom: .epoch,
                subscriptions: products
            )
            #expect(CatalogHistory([catalog]).words(ofProduct: "monthly") == words)
        }
    }

    @Test func `days are those of the zone of the question`() async throws {
        let zone = try #require(QuestionZone("+14:00"))
        let answer = try await QuestionZone.$shown.withValue(zone) {
            try await charges([.purchase("2026-01-01T12:00", to: "2026-02-01")])
        }
        #expect(
            answer.summary
                == "One charge, on 2 January 2026 for monthly: 9.99 USD. Dates are in UTC+14:00."
        )
    }

    private func charges(
        _ facts: [ChargedFact],
        at instant: Instant? = nil
    ) async throws -> ChargesDocument {
        try await ChargedFact.withLedger(facts) { ledger in
            try await ledger.charges(
                of: "1000",
                at: instant,
                now: try #require(Instant("2026-06-01"))
            )
        }
    }
}

/// One signed statement about a subscription.
struct ChargedFact {
    static let token = "0a5c1f5e-9d0b-4c53-8c3f-0b8a6f1d2e3c"

    var environment = StoreEnvironment.production
    let kind: Kind
    let id: String
    let from: String
    let to: String?
    var signed: String
    var content: Content

    static func purchase(
        _ from: String,
        to: String,
        of id: String = "1000",
        price: Int64? = 9990,
        revoked: String? = nil,
        token: String? = nil,
        ownership: String = "PURCHASED"
    ) -> ChargedFact {
        var content = Content(format: .signedTransaction)
        content[.transactionId] = .text("t\(id)\(from)")
        content[.productId] = .text("monthly")
        content[.type] = .text("Auto-Renewable Subscription")
        content[.price] = price.map { .integer($0) }
        content[.currency] = .text("USD")
        content[.inAppOwnershipType] = .text(ownership)
        content[.appAccountToken] = token.map { .text($0) }
        content[.revocationDate] = revoked.flatMap { Instant($0) }.map { .instant($0) }
        return ChargedFact(
            kind: .transaction,
            id: id,
            from: from,
            to: to,
            signed: revoked ?? from,
            content: content
        )
    }

    static func turnedOff(_ signed: String) -> ChargedFact { renewal(signed, isOn: false) }
    static func turnedOn(_ signed: String) -> ChargedFact { renewal(signed, isOn: true) }

    private static func renewal(_ signed: String, isOn: Bool) -> ChargedFact {
        var content = Content(format: .signedRenewalInfo)
        content[.autoRenewStatus] = .integer(isOn ? 1 : 0)
        content[.productId] = .text("monthly")
        content[.autoRenewProductId] = .text("monthly")
        return ChargedFact(
            kind: .renewal,
            id: "1000",
            from: signed,
            to: nil,
            signed: signed,
            content: content
        )
    }

    /// The same in another environment.
    func elsewhere(_ environment: StoreEnvironment) -> ChargedFact {
        var fact = self
        fact.environment = environment
        return fact
    }

    /// Asks a ledger of these statements.
    static func withLedger<Answer: Sendable>(
        _ facts: [ChargedFact],
        _ ask: @Sendable (Ledger) async throws -> Answer
    ) async throws -> Answer {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let log = try await EventLog.open(settings, FilledLedger.options)
            for fact in facts { _ = try await log.append([try fact.verified()]) }
            let ledger = Ledger(log: log, verifier: try FilledLedger.simulator.verifier())
            let answer = try await ask(ledger)
            await ledger.close()
            return answer
        }
    }

    func verified() throws -> Verified<[Fact]> {
        let fact = Fact(
            stream: StreamID(environment: environment, originalTransactionId: id),
            bundleId: "example.subledger",
            kind: kind,
            purchaseDate: kind == .transaction ? Instant(from) : nil,
            expiresDate: to.flatMap { Instant($0) },
            asOf: try #require(Instant(signed)),
            content: content
        )
        return Verified(
            [fact],
            evidence: Evidence(
                payload: Array("\(fact.kind) \(environment) \(id) \(fact.asOf)".utf8),
                kind: .signedTransaction,
                source: "test",
                verification: .signed(root: .zero),
                receivedAt: fact.asOf
            )
        )
    }
}
