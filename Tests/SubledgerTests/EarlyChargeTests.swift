import Events
import Subledger
import TestSupport
import Testing

/// What `charges` says where Apple charged for a period before it began, or sold another one
/// meanwhile.
@Suite(.enabled { await TestServer.isAvailable })
struct EarlyChargeTests {
    private static let april = ChargedFact.purchase("2026-04-01", to: "2026-05-01")
    private static let may = ChargedFact.purchase("2026-05-01", to: "2026-06-01")

    @Test func `a renewal charged early and then overtaken by an upgrade is not the last charge`()
        async throws
    {
        let upgrade = ChargedFact.purchase("2026-04-30T20:00", to: "2026-05-30T20:00")
        let facts = [
            Self.april, Self.may.signed("2026-04-30T06:00"), upgrade.of(product: "premium"),
        ]
        let answer = try await summary(of: facts)
        #expect(
            answer.contains(
                "On 30 April 2026, premium was charged although monthly was paid until 1 May 2026: "
                    + "a change of plan at once"
            ),
            "\(answer)"
        )
        #expect(!answer.contains("which replaced the rest"), "\(answer)")
        let off = try await summary(of: facts + [.turnedOff("2026-05-10").of(product: "premium")])
        #expect(off.contains("The last charge for premium was on 30 April 2026; "), "\(off)")
    }

    @Test func `renewal switched off after an early charge was not switched off before it`()
        async throws
    {
        let charged = Self.may.signed("2026-04-30T06:00")
        let off = ChargedFact.turnedOff("2026-04-30T18:00")
        let answer = try await summary(of: [Self.april, charged, off])
        #expect(
            answer.contains(
                "renewal was switched off on 30 April 2026, after Apple had charged for it; paid "
                    + "until 1 June 2026."
            ),
            "\(answer)"
        )
        let on = try await summary(of: [
            Self.april, charged, off, .turnedOn("2026-04-30T19:00"),
        ])
        #expect(!on.contains("switched"), "\(on)")
    }

    @Test func `another product bought after a subscription had ended is no change of plan`()
        async throws
    {
        let bought = ChargedFact.purchase("2026-08-01", to: "2027-08-01").of(product: "yearly")
        let answer = try await charges([Self.april, .turnedOff("2026-04-05"), bought])
        #expect(answer.charges.map(\.reason) == ["first", "resubscribe"])
        #expect(
            answer.summary.contains(
                "The last charge for yearly, on 1 August 2026, was for a new purchase and not a "
                    + "renewal: renewal had been switched off on 5 April 2026, and the subscription "
                    + "had ended."
            ),
            "\(answer.summary)"
        )
    }

    @Test func `a purchase during the period is not called a renewal`() async throws {
        let answer = try await summary(of: [
            Self.april, .turnedOff("2026-04-05"), .turnedOn("2026-04-10"),
            .purchase("2026-04-20", to: "2026-05-20"),
        ])
        #expect(!answer.contains("which was a renewal"), "\(answer)")
    }

    private func summary(of facts: [ChargedFact]) async throws -> String {
        try await charges(facts).summary
    }

    private func charges(_ facts: [ChargedFact]) async throws -> ChargesDocument {
        try await ChargedFact.withLedger(facts) { ledger in
            try await ledger.charges(of: "1000", now: try #require(Instant("2026-09-01")))
        }
    }
}

extension ChargedFact {
    /// The same, signed at another time.
    fileprivate func signed(_ time: String) -> ChargedFact {
        var fact = self
        fact.signed = time
        return fact
    }

    /// The same of another product.
    fileprivate func of(product: String) -> ChargedFact {
        var fact = self
        for field in [Field.productId, .autoRenewProductId] where fact.content[field] != nil {
            fact.content[field] = .text(product)
        }
        return fact
    }
}
