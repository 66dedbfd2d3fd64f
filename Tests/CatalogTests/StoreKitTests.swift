import AppStoreSimulator
import Catalog
import Events
import Foundation
import Projections
import TestSupport
import Testing

/// Xcode's `.storekit` files, formats 1 to 5 (Apple's data: StoreKit configuration).
@Suite struct StoreKitTests {
    @Test func `the first format is read`() throws {
        let content = try read(Fixtures.storekit1)
        #expect(content.format == "storekit 1.0")
        #expect(content.warnings.isEmpty)
        let monthly = try #require(content.subscriptions.first)
        #expect(monthly.productId == "app.monthly" && monthly.level == 1)
        #expect(monthly.subscriptionGroupIdentifier == "20000001")
        #expect(monthly.groupName == "Plans" && monthly.referenceName == "Monthly")
        #expect(monthly.displayName == nil && monthly.isFamilyShareable)
        #expect(monthly.duration == SubscriptionPeriod("P1M"))
        let price = CatalogPrice(storefront: nil, currency: nil, text: "9.99")
        #expect(monthly.prices == [price])
        #expect(monthly.offers.map(\.summary) == ["introductory FREE_TRIAL 1 × P1W"])
        let full = try #require(content.otherProducts.first)
        #expect(full.productId == "app.full" && full.type == "Non-Consumable")
        #expect(full.displayName == "Full" && full.prices.first?.milliunits == 4990)
    }

    @Test(arguments: 2...5)
    func `every kind of offer is read, in each later format`(version: Int) throws {
        let text = Fixtures.storekit(
            version,
            introductory: version < 5 ? Fixtures.singleOffer : Fixtures.listedOffers,
            more: version < 5 ? "" : Fixtures.billingPlans
        )
        let content = try read(text)
        #expect(content.format == "storekit \(version).0")
        #expect(content.warnings.isEmpty, "\(content.warnings)")
        let monthly = try #require(content.subscriptions.first)
        #expect(
            monthly.offers.map(\.summary) == [
                "introductory FREE_TRIAL 1 × P3D",
                "promotional stay PAY_AS_YOU_GO 3 × P1M 1.99 DEU",
                "code fair PAY_UP_FRONT 1 × P3M 5.99 DEU", "win-back back FREE_TRIAL 1 × P2W",
            ]
        )
        #expect(monthly.level == 2 && monthly.displayName == "Jeden Monat")
        #expect(monthly.subscriptionGroupIdentifier == "20000002", "the enclosing group")
        #expect(monthly.prices.map(\.summary) == ["4.99 DEU"])
        let plans = version < 5 ? [] : ["BILLED_UPFRONT 49.99 DEU of 49.99 DEU"]
        #expect(monthly.billingPlans.map(\.summary) == plans, "a disabled plan is not sold")
        #expect(
            content.catalog.otherProducts.map { "\($0.productId) \($0.type)" } == [
                "app.coins Consumable", "app.season Non-Renewing Subscription",
            ]
        )
    }

    @Test func `bundles and suites are read with what they contain`() throws {
        let content = try read(Fixtures.bundles)
        #expect(
            content.subscriptions.map { "\($0.productId) \($0.contents.type)" } == [
                "office Subscription Bundle", "studio Subscription Suite",
                "mail Auto-Renewable Subscription",
            ]
        )
        #expect(content.subscriptions.map(\.contents.productIds) == [["mail", "drive"], [], []])
        #expect(content.warnings.isEmpty, "\(content.warnings)")
    }

    @Test func `a newer format is read as far as it is known`() throws {
        let content = try read(Fixtures.storekit(6, introductory: Fixtures.listedOffers))
        #expect(content.warningCodes == ["newer-format"])
        #expect(content.subscriptions.count == 1)
    }

    @Test func `a group known only to Xcode is reported once and still orders its products`()
        throws
    {
        let two =
            "\(Fixtures.needed)},{\"productID\":\"b\",\"groupNumber\":2,"
            + "\"recurringSubscriptionPeriod\":\"P1M\""
        let content = try read(Fixtures.subscription(two, group: "49A58F4B"))
        #expect(content.warningCodes == ["local-group"])
        #expect(content.warnings.first?.message.contains("49A58F4B") == true)
        #expect(content.catalog.change(from: "a", to: "b") == .downgrade)
    }

    @Test func `the group that encloses a subscription is the one that counts`() throws {
        let content = try read(
            Fixtures.subscription("\(Fixtures.needed),\"subscriptionGroupID\":\"7\"")
        )
        #expect(content.warningCodes == ["group-mismatch"])
        #expect(content.subscriptions.first?.subscriptionGroupIdentifier == "20000003")
    }

    @Test(arguments: [
        "{\"subscriptionPeriod\":\"P1W\"}", "{\"paymentMode\":\"free\"}",
        "{\"paymentMode\":\"free\",\"subscriptionPeriod\":\"soon\"}",
        "{\"paymentMode\":\"free\",\"subscriptionPeriod\":\"P1W\",\"numberOfPeriods\":0}",
    ])
    func `an unreadable offer is left out, and the product stays`(offer: String) throws {
        let content = try read(
            Fixtures.subscription("\(Fixtures.needed),\"introductoryOffer\":\(offer)")
        )
        #expect(content.warningCodes == ["offer-left-out"])
        #expect(content.subscriptions.first?.offers.isEmpty == true)
    }

    @Test func `an unknown payment mode is kept`() throws {
        let offer = "{\"paymentMode\":\"barter\",\"subscriptionPeriod\":\"P1W\"}"
        let content = try read(
            Fixtures.subscription("\(Fixtures.needed),\"introductoryOffers\":[\(offer)]")
        )
        #expect(content.subscriptions.first?.offers.first?.paymentMode == .unrecognised("barter"))
    }

    @Test func `a price written as a number keeps its digits`() throws {
        let content = try read(
            Fixtures.subscription("\(Fixtures.needed),\"displayPrice\":1234567890123456.78")
        )
        #expect(content.subscriptions.first?.prices.first?.text == "1234567890123456.78")
    }

    @Test(.enabled(if: RealData.isPresent))
    func `files from real projects are read`() throws {
        let apphud = try real("apphud__ApphudSDK/storekit/StoreKit.storekit")
        #expect(apphud.format == "storekit 3.0" && apphud.warnings.isEmpty)
        #expect(apphud.subscriptions.count == 7 && apphud.otherProducts.count == 3)
        #expect(
            apphud.catalog.change(from: "com.apphud.year", to: "com.apphud.weekly") == .upgrade
        )
        let promo = try #require(apphud.catalog.subscription("com.apphud.monthly_promo"))
        #expect(
            promo.offers.map(\.summary) == [
                "promotional com.apphud.monthly_promo_skidos PAY_UP_FRONT 1 × P3M 0.99 USA"
            ]
        )
        let isowords = try real("pointfreeco__isowords/storekit/StoreKit.storekit")
        #expect(isowords.format == "storekit 1.0")
        #expect(isowords.warningCodes == ["no-subscriptions"])
        let superwall = try real(
            "superwall__Superwall-iOS/storekit/Superwall_Advanced-Products.storekit"
        )
        #expect(superwall.format == "storekit 5.0")
        #expect(superwall.warningCodes == ["local-group"])
        #expect(superwall.subscriptions.map(\.level) == [1, 2])
    }

    private func real(_ name: String) throws -> CatalogContent {
        try CatalogFile.read(
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: try RealData.path(name))))
        )
    }

    @Test func `the simulator's file contains what the simulator sells`() throws {
        #expect(SimulatedCatalog.storekit == SimulatedCatalog.storekit)
        let content = try CatalogFile.read(SimulatedCatalog.storekit)
        #expect(content.warnings.isEmpty && content.format == "storekit 4.0")
        let products = SimulatedCatalog.groups.flatMap { $0 }
        #expect(content.subscriptions.count == products.count)
        for product in products {
            let read = try #require(content.catalog.subscription(product.id))
            #expect(read.subscriptionGroupIdentifier == product.group)
            #expect(read.level == product.level)
            #expect(read.duration == SubscriptionPeriod(product.duration.iso8601))
            #expect(read.prices.first?.milliunits == product.dollarMilliunits)
        }
        #expect(
            Set(content.catalog.otherProducts.map(\.productId))
                == Set(SimulatedCatalog.consumables)
                .union([SimulatedCatalog.nonConsumable, SimulatedCatalog.nonRenewing])
        )
    }
}
