/// Everything the simulated app sells.
package enum SimulatedCatalog {
    /// The group of the reading service: three levels, weekly to yearly.
    package static let lumen: [SimulatedProduct] = [
        product("lumen.pro.monthly", lumenGroup, 1, .months(1), 14_990),
        product("lumen.pro.yearly", lumenGroup, 1, .years(1), 119_990),
        product("lumen.plus.monthly", lumenGroup, 2, .months(1), 9_990),
        product("lumen.plus.students.monthly", lumenGroup, 2, .months(1), 6_990),
        product("lumen.plus.yearly", lumenGroup, 2, .years(1), 79_990),
        product("lumen.basic.weekly", lumenGroup, 3, .weeks(1), 1_990),
        product("lumen.basic.monthly", lumenGroup, 3, .months(1), 4_990),
    ]

    /// The group of the drawing tool: three levels, weekly to yearly.
    package static let atlas: [SimulatedProduct] = [
        product("atlas.studio.monthly", atlasGroup, 1, .months(1), 24_990),
        product("atlas.studio.team.monthly", atlasGroup, 1, .months(1), 49_990),
        product("atlas.studio.yearly", atlasGroup, 1, .years(1), 199_990),
        product("atlas.solo.quarterly", atlasGroup, 2, .months(3), 26_990),
        product("atlas.solo.monthly", atlasGroup, 2, .months(1), 10_990),
        product("atlas.lite.weekly", atlasGroup, 3, .weeks(1), 2_990),
    ]

    /// The group of the sea charts, sold with a commitment of twelve months: paid monthly or once a
    /// year.
    ///
    /// Apple sells both as one product; here they are two, so that a switch is a change of plan.
    package static let harbor: [SimulatedProduct] = [
        product("harbor.full.monthly", harborGroup, 1, .months(1), 8_990, .monthly(periods: 12)),
        product("harbor.full.yearly", harborGroup, 1, .years(1), 95_990, .billedUpfront),
        product("harbor.coast.monthly", harborGroup, 2, .months(1), 3_990, .monthly(periods: 12)),
        product("harbor.coast.weekly", harborGroup, 3, .weeks(1), 1_490),
    ]

    /// All groups.
    package static let groups: [[SimulatedProduct]] = [lumen, atlas, harbor]

    /// Identifiers of the consumables sold next to the subscriptions.
    package static let consumables = [
        "example.subledger.lumen.credits.10", "example.subledger.lumen.credits.100",
    ]

    /// The identifier of a product that is bought once and owned.
    package static let nonConsumable = "example.subledger.lumen.fonts"

    /// The identifier of a subscription that does not renew.
    package static let nonRenewing = "example.subledger.lumen.season"

    private static let lumenGroup = "21400001"
    private static let atlasGroup = "21400002"
    private static let harborGroup = "21400003"

    private static func product(
        _ name: String,
        _ group: String,
        _ level: Int,
        _ duration: SubscriptionDuration,
        _ dollarMilliunits: Int64,
        _ billingPlan: SimulatedProduct.BillingPlan? = nil
    ) -> SimulatedProduct {
        SimulatedProduct(
            id: "example.subledger." + name,
            group: group,
            level: level,
            duration: duration,
            dollarMilliunits: dollarMilliunits,
            billingPlan: billingPlan
        )
    }
}
