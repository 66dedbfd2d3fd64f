extension SimulatedCatalog {
    /// The catalog as Xcode stores one that is synchronised with App Store Connect: a `.storekit`
    /// file of format 4 (Apple's data: StoreKit configuration); the same bytes each time.
    ///
    /// It contains no offers: the simulation invents them for each customer.
    package static var storekit: [UInt8] {
        var version = JSONWriter()
        version.add("major", 4)
        version.add("minor", 0)
        var settings = JSONWriter()
        settings.add("_locale", "en_US")
        settings.add("_storefront", "USA")
        var file = JSONWriter()
        file.add("identifier", "5AB1ED6E")
        file.add(
            "nonRenewingSubscriptions",
            objects: [oneTime(consumables.count + 1, nonRenewing, type: "NonRenewingSubscription")]
        )
        let sold = consumables.enumerated().map { oneTime($0, $1, type: "Consumable") }
        file.add(
            "products",
            objects: sold + [oneTime(consumables.count, nonConsumable, type: "NonConsumable")]
        )
        file.add("settings", object: settings.object)
        file.add("subscriptionGroups", objects: groups.map(group))
        file.add("version", object: version.object)
        return file.object + [UInt8(ascii: "\n")]
    }

    private static func oneTime(_ index: Int, _ id: String, type: String) -> [UInt8] {
        var product = JSONWriter()
        product.add("displayPrice", index == 0 ? "1.99" : "9.99")
        product.add("familyShareable", false)
        product.add("internalID", String(6_500_000_000 + index))
        product.add("localizations", objects: [])
        product.add("productID", id)
        product.add("referenceName", id)
        product.add("type", type)
        return product.object
    }

    private static func group(_ products: [SimulatedProduct]) -> [UInt8] {
        var group = JSONWriter()
        group.add("id", products.first?.group)
        group.add("localizations", objects: [])
        group.add("name", products.first.map { name(of: $0, part: 2) })
        group.add("subscriptions", objects: products.enumerated().map(subscription))
        return group.object
    }

    private static func subscription(_ index: Int, _ product: SimulatedProduct) -> [UInt8] {
        var subscription = JSONWriter()
        subscription.add("adHocOffers", objects: [])
        subscription.add("codeOffers", objects: [])
        subscription.add("displayPrice", dollars(product.dollarMilliunits))
        subscription.add("familyShareable", true)
        subscription.add("groupNumber", Int64(product.level))
        subscription.add("internalID", product.group + String(100 + index))
        subscription.add("localizations", objects: [])
        subscription.add("productID", product.id)
        subscription.add("recurringSubscriptionPeriod", product.duration.iso8601)
        subscription.add("referenceName", name(of: product, part: nil))
        subscription.add("subscriptionGroupID", product.group)
        subscription.add("type", "RecurringSubscription")
        subscription.add("winbackOffers", objects: [])
        return subscription.object
    }

    /// `example.subledger.lumen.pro.monthly` is the product `lumen pro monthly` of group `lumen`.
    private static func name(of product: SimulatedProduct, part: Int?) -> String {
        let parts = product.id.split(separator: ".")
        guard let part else { return parts.dropFirst(2).joined(separator: " ") }
        return String(parts[part])
    }

    private static func dollars(_ milliunits: Int64) -> String {
        let cents = milliunits / 10
        return "\(cents / 100)." + String(String(cents % 100 + 100).dropFirst())
    }
}
