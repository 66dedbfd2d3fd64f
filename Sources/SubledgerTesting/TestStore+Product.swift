internal import AppStoreSimulator

extension TestStore {
    /// A subscription product of the app under test.
    public struct Product: Hashable, Sendable {
        /// The product identifier, as in App Store Connect.
        public let id: String
        /// The subscription group.
        public let group: String
        /// The rank in the group, 1 for the most service.
        public let level: Int
        /// The length of a period.
        public let period: Period
        /// The price of a period, in thousandths of a dollar.
        public let priceMilliunits: Int64

        /// A product; by default monthly at 9.99 dollars, of the highest level of its group.
        public init(
            _ id: String,
            group: String = "20000001",
            level: Int = 1,
            period: Period = .months(1),
            priceMilliunits: Int64 = 9_990
        ) {
            self.id = id
            self.group = group
            self.level = level
            self.period = period
            self.priceMilliunits = priceMilliunits
        }

        var simulated: SimulatedProduct {
            SimulatedProduct(
                id: id,
                group: group,
                level: level,
                duration: period.simulated,
                dollarMilliunits: priceMilliunits
            )
        }
    }

    /// The length of a period, or of an offer.
    public enum Period: Hashable, Sendable {
        /// Weeks of seven days.
        case weeks(Int64)
        /// Months of the calendar.
        case months(Int64)
        /// Years of the calendar.
        case years(Int64)

        var simulated: SubscriptionDuration {
            switch self {
            case .weeks(let count): .weeks(count)
            case .months(let count): .months(count)
            case .years(let count): .years(count)
            }
        }
    }

    /// An introductory offer.
    public enum Offer: Hashable, Sendable {
        /// A free period of that length.
        case freeTrial(Period)
        /// One period of that length at half the product's price.
        case payUpFront(Period)
        /// That many periods, each as long as the product's, at half its price.
        case payAsYouGo(Period, periods: Int)

        var simulated: SimulatedOffer {
            switch self {
            case .freeTrial(let period): .free(period.simulated)
            case .payUpFront(let period): .payUpFront(period.simulated)
            case .payAsYouGo(let period, let count): .payAsYouGo(period.simulated, periods: count)
            }
        }
    }
}
