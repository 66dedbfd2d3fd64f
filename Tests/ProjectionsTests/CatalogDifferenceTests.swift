import Events
import Projections
import Testing

/// The differences between two versions of a catalog.
@Suite struct CatalogDifferenceTests {
    @Test func `added, removed and changed products are each named`() throws {
        let old = try catalog(["a": 1, "b": 2, "d": 1, "é": 1], others: ["x", "y"])
        let new = try catalog(["b": 3, "c": 1, "d": 1, "e\u{301}": 1], others: ["y", "z"])
        let difference = CatalogDifference(from: old, to: new)
        #expect(difference.added == ["c", "e\u{301}", "z"])
        #expect(difference.added.map(\.utf8.count) == [1, 3, 1], "two spellings, two identifiers")
        #expect(difference.removed == ["a", "x", "é"])
        #expect(difference.changed.map(\.productId) == ["b"])
        #expect(
            difference.changed.first?.fields.map { "\($0.name) \($0.old ?? "") \($0.new ?? "")" }
                == ["level 2 3"]
        )
        let back = CatalogDifference(from: new, to: old)
        #expect(back.added == difference.removed && back.removed == difference.added)
        #expect(back.changed.first?.fields.first?.new == "2")
    }

    @Test func `compared with nothing everything is added, compared with itself nothing differs`()
        throws
    {
        let one = try catalog(["a": 1, "b": 2], others: ["x"])
        #expect(CatalogDifference(from: nil, to: one).added == ["a", "b", "x"])
        #expect(CatalogDifference(from: one, to: one).isEmpty)
        #expect(!CatalogDifference(from: nil, to: one).isEmpty)
    }

    @Test func `every changed property is reported`() throws {
        let price = CatalogPrice(storefront: "USA", currency: nil, text: "9.99")
        let week = try #require(SubscriptionPeriod("P1W"))
        let old = subscription(group: "g", week)
        let offer = CatalogOffer(
            kind: .winBack,
            identifier: "back",
            paymentMode: .payUpFront,
            period: week,
            numberOfPeriods: 2,
            price: price
        )
        let new = subscription(
            group: "h",
            name: "n",
            level: 2,
            try #require(SubscriptionPeriod("P1M")),
            isShareable: true,
            prices: [price],
            offers: [offer]
        )
        let fields = try #require(CatalogDifference(from: old, to: new).changed.first?.fields)
        #expect(
            fields.map { "\($0.name): \($0.old ?? "–") → \($0.new ?? "–")" } == [
                "subscriptionGroupIdentifier: g → h", "groupName: – → n", "level: 1 → 2",
                "duration: P1W → P1M", "referenceName: – → n", "displayName: – → n",
                "familyShareable: false → true", "prices: – → 9.99 USA",
                "billingPlans: – → MONTHLY 9.99 USA of 9.99 USA",
                "offers: – → win-back back PAY_UP_FRONT 2 × P1W 9.99 USA",
            ]
        )
    }

    @Test func `two spellings of one letter are two names`() throws {
        let period = try #require(SubscriptionPeriod("P1M"))
        let (old, new) = (
            subscription(group: "é", period), subscription(group: "e\u{301}", period)
        )
        let fields = CatalogDifference(from: old, to: new).changed.first?.fields
        #expect(fields?.map(\.name) == ["subscriptionGroupIdentifier"])
    }

    @Test func `a subscription that becomes another kind of product keeps its name`() throws {
        let difference = CatalogDifference(
            from: try catalog(["a": 1], others: []),
            to: try catalog([:], others: ["a"])
        )
        #expect(difference.added.isEmpty && difference.removed.isEmpty)
        #expect(
            difference.changed.first?.fields.map(\.name) == [
                "type", "subscriptionGroupIdentifier", "level", "duration",
            ]
        )
    }

    private func catalog(
        _ levels: KeyValuePairs<String, Int>,
        others: [String]
    ) throws -> ProductCatalog {
        let month = try #require(SubscriptionPeriod("P1M"))
        return ProductCatalog(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: levels.map {
                ProductCatalog.Subscription(
                    productId: $0.key,
                    subscriptionGroupIdentifier: "g",
                    level: $0.value,
                    duration: month
                )
            },
            otherProducts: others.map {
                ProductCatalog.OtherProduct(
                    productId: $0,
                    type: "Consumable",
                    referenceName: nil,
                    displayName: nil,
                    isFamilyShareable: false,
                    prices: []
                )
            }
        )
    }

    private func subscription(
        group: String,
        name: String? = nil,
        level: Int = 1,
        _ duration: SubscriptionPeriod,
        isShareable: Bool = false,
        prices: [CatalogPrice] = [],
        offers: [CatalogOffer] = []
    ) -> ProductCatalog {
        ProductCatalog(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: [
                ProductCatalog.Subscription(
                    productId: "a",
                    subscriptionGroupIdentifier: group,
                    groupName: name,
                    level: level,
                    duration: duration,
                    referenceName: name,
                    displayName: name,
                    isFamilyShareable: isShareable,
                    prices: prices,
                    billingPlans: prices.map {
                        ProductCatalog.BillingPlan(
                            type: "MONTHLY",
                            price: $0,
                            commitmentPrice: $0
                        )
                    },
                    offers: offers
                )
            ]
        )
    }
}
