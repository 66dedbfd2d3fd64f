/// An offer that makes one or more periods cheaper.
package struct SimulatedOffer: Hashable, Sendable {
    /// Who the offer is for; the raw values are Apple's `offerType`.
    package enum Category: Int64, Hashable, Sendable {
        /// For customers who never had one in the group.
        case introductory = 1
        /// For existing and lapsed subscribers, chosen by the developer.
        case promotional = 2
        /// For customers with a code.
        case offerCode = 3
        /// For former subscribers.
        case winBack = 4
        /// For subscribers who are about to cancel.
        case retention = 5
    }

    /// How the offer is paid; the raw values are Apple's `offerDiscountType`.
    package enum Discount: String, Hashable, Sendable {
        /// One free period of the offer's length.
        case freeTrial = "FREE_TRIAL"
        /// Several periods of the product's length, each at the offer's price.
        case payAsYouGo = "PAY_AS_YOU_GO"
        /// One period of the offer's length at the offer's price.
        case payUpFront = "PAY_UP_FRONT"
    }

    /// Who it is for.
    package let category: Category
    /// Apple's identifier of the offer; nil for introductory offers, which have none.
    package let identifier: String?
    /// How it is paid.
    package let discount: Discount
    /// The length of the one period; for pay as you go, the product's.
    package let duration: SubscriptionDuration
    /// The number of periods; 1 unless pay as you go.
    package private(set) var periodCount = 1
    /// The price in percent of the product's.
    package private(set) var pricePercent: Int64 = 50

    private init(
        _ category: Category,
        _ identifier: String?,
        _ discount: Discount,
        _ duration: SubscriptionDuration
    ) {
        self.category = category
        self.identifier = identifier
        self.discount = discount
        self.duration = duration
    }

    /// A free period.
    package static func free(
        _ duration: SubscriptionDuration,
        _ category: Category = .introductory,
        identifier: String? = nil
    ) -> SimulatedOffer {
        var offer = SimulatedOffer(category, identifier, .freeTrial, duration)
        offer.pricePercent = 0
        return offer
    }

    /// One paid period of its own length at half the product's price.
    package static func payUpFront(
        _ duration: SubscriptionDuration,
        _ category: Category = .introductory,
        identifier: String? = nil
    ) -> SimulatedOffer {
        SimulatedOffer(category, identifier, .payUpFront, duration)
    }

    /// That many periods of the product's own length at half its price, for new customers.
    package static func payAsYouGo(
        _ duration: SubscriptionDuration,
        periods: Int
    ) -> SimulatedOffer {
        var offer = SimulatedOffer(.introductory, nil, .payAsYouGo, duration)
        offer.periodCount = periods
        return offer
    }
}
