import Catalog
import Projections
import Testing

/// Saved responses of the App Store Connect API (Apple's data: App Store Connect responses).
@Suite struct AppStoreConnectTests {
    @Test func `groups with their subscriptions are read, drafts are left out`() throws {
        let content = try read(Fixtures.groups)
        #expect(content.format == "app-store-connect")
        #expect(content.warningCodes == ["product-left-out"])
        #expect(content.warnings.first?.message.contains("app.draft") == true)
        #expect(content.warnings.first?.message.contains("MISSING_METADATA") == true)
        let pro = try #require(content.catalog.subscription("app.pro"))
        #expect(pro.subscriptionGroupIdentifier == "21400001" && pro.groupName == "Plans")
        #expect(pro.level == 1 && pro.duration == SubscriptionPeriod("P1Y"))
        #expect(pro.referenceName == "Pro" && pro.isFamilyShareable)
        // Customers who subscribed while it was sold may still have it.
        #expect(content.catalog.change(from: "app.plus", to: "app.pro") == .upgrade)
    }

    @Test func `the group may appear only in the link, and each offer is read once`() throws {
        let content = try read(Fixtures.subscriptions)
        #expect(content.warningCodes == ["incomplete-response"])
        let pro = try #require(content.subscriptions.first)
        #expect(pro.subscriptionGroupIdentifier == "21400009")
        #expect(pro.duration == SubscriptionPeriod("P6M"))
        #expect(
            pro.offers.map(\.summary) == [
                "introductory FREE_TRIAL 1 × P2W", "promotional stay PAY_AS_YOU_GO 3 × P1M",
                "code fair PAY_UP_FRONT 1 × P1W", "win-back back FREE_TRIAL 1 × P3M",
            ]
        )
    }

    @Test func `several responses in one array are one catalog`() throws {
        let other = Fixtures.subscriptions.replacing("app.pro", with: "other.pro")
            .replacing("\"id\":\"1\"", with: "\"id\":\"91\"")
        // The last one shows whether there are more.
        let content = try read("[\(other),\(Fixtures.groups),\(Fixtures.groups)]")
        #expect(content.warningCodes == ["product-left-out"])
        #expect(
            content.catalog.subscriptions.map(\.productId) == [
                "app.plus", "app.pro", "other.pro",
            ]
        )
        #expect(content.catalog.change(from: "app.pro", to: "other.pro") == .planChange)
    }

    @Test(arguments: [
        (
            "{\"type\":\"subscriptions\",\"id\":\"3\"}],",
            "{\"type\":\"subscriptions\",\"id\":\"4\"}],"
        ),
        ("\"total\":3", "\"total\":12"),
    ])
    func `subscriptions that were not included are reported`(part: String, other: String) throws {
        let content = try read(Fixtures.groups.replacing(part, with: other))
        #expect(content.warningCodes.contains("incomplete-response"))
    }

    @Test func `a response may hold one resource, and a one-time purchase is another product`()
        throws
    {
        let content = try read(
            """
            {"data":{"type":"inAppPurchases","id":"1","attributes":{"name":"Coins",
              "productId":"app.coins","inAppPurchaseType":"NON_CONSUMABLE"}}}
            """
        )
        #expect(content.otherProducts.map(\.type) == ["Non-Consumable"])
        #expect(content.warningCodes == ["no-subscriptions"])
    }
}
