import Events
import Projections
import TestSupport
import Testing

/// Entitlements that several products and groups grant.
@Suite struct EntitlementVerdictTests {
    private static let scopes: [AccessScope] = [
        .product("a"), .product("b"), .product("unsold"), .group(.identified("g1")),
        .group(.identified("g2")),
    ]

    @Test(arguments: Acceptance.seeds(600))
    func `it is active exactly if one of its products or groups gives access`(seed: UInt64) throws {
        var random = RandomCustomer(seed: seed)
        let timelines = CustomerText.timelines(of: random.facts())
        let entitlement = Entitlement(timelines, catalogs: try RandomCustomer.catalogs)
        var wrong: [String] = []
        for instant in random.instants {
            for mask in 1..<(1 << Self.scopes.count) {
                let scopes = Self.scopes.indices.filter { mask & (1 << $0) != 0 }
                    .map { Self.scopes[$0] }
                let verdict = entitlement.verdict(on: scopes, at: instant, isKnown: true)
                let owned = scopes.contains { !entitlement.owned(at: instant, to: $0).isEmpty }
                let rows = scopes.flatMap { entitlement.active(at: instant, to: $0) }
                let ends = scopes.compactMap { scope in
                    entitlement.intervals(of: scope).first { $0.contains(instant) }?.upperBound
                }
                let isActive = owned || !rows.isEmpty
                var isRight = verdict.answer.hasAccess == isActive
                if owned {
                    isRight = isRight && verdict.until == nil
                } else if isActive {
                    // With one scope, it is the end that `access` states.
                    let last = ends.max()
                    let until = verdict.until
                    isRight =
                        isRight && (scopes.count == 1 ? until == last : until ?? .epoch >= last!)
                    isRight = isRight && rows.contains { $0.period == verdict.answer.period }
                } else {
                    isRight = isRight && verdict.until.map { $0 <= instant } ?? true
                }
                if !isRight { wrong.append("\(scopes) at \(instant): \(verdict)") }
            }
        }
        #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(2))")
    }

    private static func verdict(
        _ text: String,
        at day: String,
        _ scopes: AccessScope...
    ) throws -> (product: String?, reason: NoAccessReason?, until: Instant?) {
        let entitlement = Entitlement(try CustomerText(text).timelines)
        let verdict = entitlement.verdict(
            on: scopes,
            at: try TimelineText.instant(day),
            isKnown: true
        )
        let product = verdict.answer.period?.productId ?? verdict.answer.oneTimePurchase?.productId
        return (product, verdict.answer.reason, verdict.until)
    }

    @Test func `of several subscriptions the one that ends last decides, with its renewals`()
        throws
    {
        // Basic was renewed early: it lasts longer than premium.
        let text = """
            stream 1
            @01-01 purchase basic 01-01..02-01 group=g
            @01-31 purchase basic 02-01..03-01 group=g
            stream 2
            @01-10 purchase premium 01-10..02-10 group=h
            """
        let both = try Self.verdict(text, at: "01-20", .product("basic"), .product("premium"))
        #expect(try both.product == "basic" && both.until == TimelineText.instant("03-01"))
        let one = try Self.verdict(text, at: "01-20", .product("premium"))
        #expect(try one.product == "premium" && one.until == TimelineText.instant("02-10"))
    }

    @Test func `one that gives access comes before one that ended later or was refunded`() throws {
        let text = """
            stream 1
            @01-01 purchase basic 01-01..02-01 group=g
            stream 2
            @01-10 purchase premium 01-10..04-10 group=h
            @01-15 purchase premium 01-10..04-10 group=h revoked=01-15
            """
        let scopes: [AccessScope] = [.product("basic"), .product("premium")]
        let active = try Self.verdict(text, at: "01-20", scopes[0], scopes[1])
        #expect(active.product == "basic" && active.reason == nil)
        let over = try Self.verdict(text, at: "03-01", scopes[0], scopes[1])
        #expect(over.product == "basic" && over.reason == .expired)
        #expect(try over.until == TimelineText.instant("02-01"))
        let refunded = try Self.verdict(text, at: "03-01", scopes[1])
        #expect(refunded.reason == .refunded)
        #expect(try refunded.until == TimelineText.instant("01-15"))
    }

    @Test func `who bought nothing that grants it never bought`() throws {
        let text = """
            stream 1
            @01-01 purchase basic 01-01..02-01 group=g
            """
        let none = try Self.verdict(text, at: "01-20", .product("other"))
        #expect(none.product == nil && none.reason == .neverBought && none.until == nil)
        let early = try Self.verdict(text, at: "2023-12-01", .product("basic"))
        #expect(early.reason == .notYetBought)
    }
}
