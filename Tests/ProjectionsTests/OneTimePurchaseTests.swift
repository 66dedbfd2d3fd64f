import Events
import Projections
import Testing

/// Purchases that do not renew: which of them are owned, and which only the app can judge.
@Suite struct OneTimePurchaseTests {
    private func entitlement(
        _ text: String,
        _ catalogs: CatalogHistory = .none
    ) throws -> Entitlement {
        Entitlement(try CustomerText(text).timelines, catalogs: catalogs)
    }

    private func owned(_ entitlement: Entitlement, _ at: String) throws -> [String] {
        entitlement.owned(at: try TimelineText.instant(at)).map(\.productId)
    }

    @Test func `a non-consumable is owned from its purchase on`() throws {
        let entitlement = try entitlement(
            """
            stream 1
            @03-01 once pro.unlock 03-01 kind=Non-Consumable
            """
        )
        #expect(try owned(entitlement, "02-28") == [])
        #expect(try owned(entitlement, "03-01") == ["pro.unlock"])
        #expect(try owned(entitlement, "2039-03-01") == ["pro.unlock"])
        let instant = try TimelineText.instant("03-05")
        #expect(entitlement.owned(at: instant, to: .product("pro.unlock")).count == 1)
        #expect(entitlement.owned(at: instant, to: .product("other")).isEmpty)
        #expect(entitlement.owned(at: instant, to: .group(.identified("g"))).isEmpty)
    }

    @Test func `a revoked non-consumable is not owned until Apple reverses the revocation`()
        throws
    {
        let refunded = """
            stream 1
            @03-01 once pro.unlock 03-01 kind=Non-Consumable
            @03-20 once pro.unlock 03-01 kind=Non-Consumable revoked=03-10
            """
        #expect(try owned(try entitlement(refunded), "03-09") == ["pro.unlock"])
        #expect(try owned(try entitlement(refunded), "03-10") == [])
        let reversed = refunded + "\n@04-01 once pro.unlock 03-01 kind=Non-Consumable"
        #expect(try owned(try entitlement(reversed), "03-25") == ["pro.unlock"])
    }

    @Test func `consumables and non-renewing subscriptions are not judged`() throws {
        let entitlement = try entitlement(
            """
            stream 1
            @03-01 once coins 03-01 kind=Consumable
            stream 2
            @03-02 once season 03-02 kind=Non-Renewing_Subscription
            """
        )
        #expect(try owned(entitlement, "03-05") == [])
        let open = entitlement.notJudged(at: try TimelineText.instant("03-05"))
        #expect(open.map(\.productId) == ["coins", "season"])
        #expect(entitlement.notJudged(at: try TimelineText.instant("03-01")).count == 1)
    }

    @Test func `if a receipt does not state the type, the catalog does`() throws {
        let text = """
            stream 1
            @03-01 once pro.unlock 03-01 via=receipt
            """
        #expect(try owned(try entitlement(text), "03-05") == [])
        #expect(
            try entitlement(text).notJudged(at: TimelineText.instant("03-05")).map(\.kind)
                == [.unknown]
        )
        let product = ProductCatalog.OtherProduct(
            productId: "pro.unlock",
            type: "Non-Consumable",
            referenceName: nil,
            displayName: nil,
            isFamilyShareable: false,
            prices: []
        )
        let catalog = ProductCatalog(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: [],
            otherProducts: [product]
        )
        let known = try entitlement(text, CatalogHistory([catalog]))
        #expect(try owned(known, "03-05") == ["pro.unlock"])
    }

    @Test func `a family-shared non-consumable is owned if family sharing counts as access`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @03-01 once pro.unlock 03-01 kind=Non-Consumable family
            """
        )
        func isOwned(_ family: Bool) throws -> Bool {
            let policy = AccessPolicy(
                graceCounts: true,
                familyCounts: family,
                reversalIsRetroactive: true
            )
            let timelines = customer.timelines.map { $0.under(policy) }
            return try !owned(Entitlement(timelines), "03-05").isEmpty
        }
        #expect(try isOwned(true) && !isOwned(false))
    }

    @Test func `a restored non-consumable is one purchase, whatever its restore date`()
        throws
    {
        try expect(
            """
            @03-01 once pro.unlock 03-01 kind=Non-Consumable price=4990 id=T1
            @05-01 once pro.unlock 05-01 kind=Non-Consumable price=4990 id=T2
            @06-01 once pro.unlock 06-01 via=receipt id=T3
            --- transactions
            pro.unlock 03-01.. 4990/4990
            --- refunds
            """
        )
        try expect(
            """
            @06-01 once pro.unlock 03-01 via=receipt id=T1
            @06-01 once pro.unlock 05-01 via=receipt id=T2
            --- transactions
            pro.unlock 03-01..
            """
        )
        try expect(
            """
            @03-01 once season 03-01 kind=Consumable price=990 id=T1
            @05-01 once season 05-01 kind=Consumable price=990 id=T2
            --- transactions
            season 03-01.. 990/990
            season 05-01.. 990/990
            """
        )
    }

    @Test func `a refund of a restored purchase refunds the one purchase`() throws {
        try expect(
            """
            @03-01 once pro.unlock 03-01 kind=Non-Consumable price=4990 id=T1
            @05-10 once pro.unlock 05-01 kind=Non-Consumable price=4990 id=T2 revoked=05-09
            @05-10 notice REFUND uuid=n1 about=05-01
            --- refunds
            refunded untyped current pro.unlock 03-01 revoked=05-09 told=05-10 4990/4990 net
            """
        )
    }

    @Test
    func `an explanation reports owned, revoked or not judged, but never that nothing was bought`()
        throws
    {
        let bought = "03-01T00:00:05 @03-01 once pro.unlock 03-01 kind=Non-Consumable"
        try expect(
            bought,
            at: "03-05",
            """
            entitled yes owned pro.unlock
            served yes owned pro.unlock
            because #1 opened - 03-01 lag 5s
            changes #1
            """
        )
        try expect(
            bought + """

                03-20 @03-19 once pro.unlock 03-01 kind=Non-Consumable revoked=03-10
                + @03-19 notice REFUND uuid=n1 about=03-01
                """,
            at: "03-15",
            """
            entitled no refunded pro.unlock
            served yes owned pro.unlock
            wronglyGranted 03-10..03-20 864000s refundedLater
            because #1 opened - 03-01 lag 5s
            because #2 ended REFUND 03-10 lag 864000s
            changes #2
            """
        )
        try expect(
            "03-01T00:00:05 @03-01 once coins 03-01 kind=Consumable",
            at: "03-05",
            """
            entitled no notJudged coins
            served no notJudged coins
            because #1 opened - 03-01 lag 5s
            """
        )
        try expect(
            bought,
            at: "02-05",
            """
            entitled no notYetBought
            served no notKnownYet
            """
        )
    }

    @Test func `an ended subscription does not affect owned purchases`() throws {
        try expect(
            """
            01-01T00:00:05 @01-01 once pro.unlock 01-01 kind=Non-Consumable
            02-01T00:00:05 @02-01 purchase monthly 02-01..03-01
            """,
            at: "03-05",
            """
            entitled yes owned pro.unlock
            served yes owned pro.unlock
            because #1 opened - 01-01 lag 5s
            changes #1
            """
        )
    }
}
