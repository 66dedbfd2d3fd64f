/// A subscription product of the simulated app.
public struct SimulatedProduct: Hashable, Sendable {
    /// Apple's product identifier.
    public let id: String
    /// The subscription group; a customer has at most one running subscription in each.
    public let group: String
    /// The rank in its group, 1 for the most service (app-store.md §G-23: not price, not length).
    public let level: Int
    /// The length of a period.
    public let duration: SubscriptionDuration
    /// The price of a period in the United States, in thousandths of a dollar.
    public let dollarMilliunits: Int64
    /// How a commitment is paid; nil for what is sold without one.
    public let billingPlan: BillingPlan?

    /// How a commitment of a year is paid (app-store.md §D.1, `billingPlanType`).
    public enum BillingPlan: Hashable, Sendable {
        /// At once.
        case billedUpfront
        /// Period by period, that many of them.
        case monthly(periods: Int64)

        /// Apple's word for it.
        var word: String {
            switch self {
            case .billedUpfront: "BILLED_UPFRONT"
            case .monthly: "MONTHLY"
            }
        }
    }

    /// A product.
    public init(
        id: String,
        group: String,
        level: Int,
        duration: SubscriptionDuration,
        dollarMilliunits: Int64,
        billingPlan: BillingPlan? = nil
    ) {
        self.id = id
        self.group = group
        self.level = level
        self.duration = duration
        self.dollarMilliunits = dollarMilliunits
        self.billingPlan = billingPlan
    }
}

/// Everything the simulated app sells.
public enum SimulatedCatalog {
    /// The group of the reading service: three levels, weekly to yearly.
    public static let lumen: [SimulatedProduct] = [
        product("lumen.pro.monthly", lumenGroup, 1, .months(1), 14_990),
        product("lumen.pro.yearly", lumenGroup, 1, .years(1), 119_990),
        product("lumen.plus.monthly", lumenGroup, 2, .months(1), 9_990),
        product("lumen.plus.students.monthly", lumenGroup, 2, .months(1), 6_990),
        product("lumen.plus.yearly", lumenGroup, 2, .years(1), 79_990),
        product("lumen.basic.weekly", lumenGroup, 3, .weeks(1), 1_990),
        product("lumen.basic.monthly", lumenGroup, 3, .months(1), 4_990),
    ]

    /// The group of the drawing tool: three levels, weekly to yearly.
    public static let atlas: [SimulatedProduct] = [
        product("atlas.studio.monthly", atlasGroup, 1, .months(1), 24_990),
        product("atlas.studio.team.monthly", atlasGroup, 1, .months(1), 49_990),
        product("atlas.studio.yearly", atlasGroup, 1, .years(1), 199_990),
        product("atlas.solo.quarterly", atlasGroup, 2, .months(3), 26_990),
        product("atlas.solo.monthly", atlasGroup, 2, .months(1), 10_990),
        product("atlas.lite.weekly", atlasGroup, 3, .weeks(1), 2_990),
    ]

    /// The group of the sea charts, sold with a commitment of twelve months: paid each month, or
    /// once a year.
    ///
    /// Apple sells both as one product; here each is a product of its own, for a change of plan.
    public static let harbor: [SimulatedProduct] = [
        product("harbor.full.monthly", harborGroup, 1, .months(1), 8_990, .monthly(periods: 12)),
        product("harbor.full.yearly", harborGroup, 1, .years(1), 95_990, .billedUpfront),
        product("harbor.coast.monthly", harborGroup, 2, .months(1), 3_990, .monthly(periods: 12)),
        product("harbor.coast.weekly", harborGroup, 3, .weeks(1), 1_490),
    ]

    /// All groups.
    public static let groups: [[SimulatedProduct]] = [lumen, atlas, harbor]

    /// Identifiers of the consumables sold beside the subscriptions.
    public static let consumables = ["lumen.credits.10", "lumen.credits.100"]

    /// The identifier of what is bought once and owned.
    public static let nonConsumable = "example.subledger.lumen.fonts"

    /// The identifier of a subscription that does not renew.
    public static let nonRenewing = "example.subledger.lumen.season"

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

/// An offer that makes one or more periods cheaper.
public struct SimulatedOffer: Hashable, Sendable {
    /// Who the offer is for; the raw values are Apple's `offerType`.
    public enum Category: Int64, Hashable, Sendable {
        /// For those who never had one in the group.
        case introductory = 1
        /// For existing and lapsed subscribers, chosen by the developer.
        case promotional = 2
        /// For whoever has a code.
        case offerCode = 3
        /// For those who left.
        case winBack = 4
    }

    /// How the offer is paid; the raw values are Apple's `offerDiscountType`.
    public enum Discount: String, Hashable, Sendable {
        /// One free period of the offer's length.
        case freeTrial = "FREE_TRIAL"
        /// Several periods of the product's length, each at the offer's price.
        case payAsYouGo = "PAY_AS_YOU_GO"
        /// One period of the offer's length at the offer's price.
        case payUpFront = "PAY_UP_FRONT"
    }

    /// Who it is for.
    public let category: Category
    /// Apple's identifier of the offer; nil for introductory offers, which have none.
    public let identifier: String?
    /// How it is paid.
    public let discount: Discount
    /// The length of the one period; for pay as you go, the product's.
    public let duration: SubscriptionDuration
    /// The number of periods; 1 unless pay as you go.
    public let periodCount: Int
    /// The price in percent of the product's.
    public let pricePercent: Int64

    /// A free period.
    public static func free(
        _ duration: SubscriptionDuration,
        _ category: Category = .introductory,
        identifier: String? = nil
    ) -> SimulatedOffer {
        SimulatedOffer(
            category: category,
            identifier: identifier,
            discount: .freeTrial,
            duration: duration,
            periodCount: 1,
            pricePercent: 0
        )
    }

    /// One paid period of its own length at half the product's price.
    public static func payUpFront(
        _ duration: SubscriptionDuration,
        _ category: Category = .introductory,
        identifier: String? = nil
    ) -> SimulatedOffer {
        SimulatedOffer(
            category: category,
            identifier: identifier,
            discount: .payUpFront,
            duration: duration,
            periodCount: 1,
            pricePercent: 50
        )
    }

    /// That many periods of the product's own length at half its price.
    public static func payAsYouGo(
        _ duration: SubscriptionDuration,
        periods: Int,
        _ category: Category = .introductory,
        identifier: String? = nil
    ) -> SimulatedOffer {
        SimulatedOffer(
            category: category,
            identifier: identifier,
            discount: .payAsYouGo,
            duration: duration,
            periodCount: periods,
            pricePercent: 50
        )
    }
}

/// A national store, with its currency.
public struct SimulatedStorefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3.
    public let country: String
    /// Apple's number of the store.
    public let id: String
    /// ISO 4217.
    public let currency: String
    /// What a dollar costs there, in thousandths of the currency's unit.
    public let milliunitsPerDollar: Int64

    /// A store.
    public init(country: String, id: String, currency: String, milliunitsPerDollar: Int64) {
        self.country = country
        self.id = id
        self.currency = currency
        self.milliunitsPerDollar = milliunitsPerDollar
    }

    /// The stores lives are spread over; rates are made up, round and constant.
    public static let all: [SimulatedStorefront] = [
        SimulatedStorefront(
            country: "USA",
            id: "143441",
            currency: "USD",
            milliunitsPerDollar: 1000
        ),
        SimulatedStorefront(
            country: "GBR",
            id: "143444",
            currency: "GBP",
            milliunitsPerDollar: 800
        ),
        SimulatedStorefront(
            country: "DEU",
            id: "143443",
            currency: "EUR",
            milliunitsPerDollar: 900
        ),
        SimulatedStorefront(
            country: "JPN",
            id: "143462",
            currency: "JPY",
            milliunitsPerDollar: 150_000
        ),
        SimulatedStorefront(
            country: "TUR",
            id: "143480",
            currency: "TRY",
            milliunitsPerDollar: 34_000
        ),
        SimulatedStorefront(
            country: "BRA",
            id: "143503",
            currency: "BRL",
            milliunitsPerDollar: 5_000
        ),
    ]

    /// What a period costs there, in milliunits of the currency: whole units for those without
    /// cents, rounded down.
    func price(of product: SimulatedProduct, offer: SimulatedOffer?) -> Int64 {
        let full = product.dollarMilliunits * milliunitsPerDollar / 1000
        let price = full * (offer?.pricePercent ?? 100) / 100
        return price - price % (currency == "JPY" ? 1000 : 10)
    }
}
