/// An offer on a subscription: a number of periods at a lower price, or free.
package struct CatalogOffer: Codable, Hashable, Sendable {
    /// The eligible customers; the raw values are ours, the ranks Apple's `offerType` (Apple's
    /// data: transactions).
    package enum Kind: String, CaseIterable, Codable, Sendable {
        /// For customers who never had one in the group; `offerType` 1.
        case introductory
        /// For customers chosen by the developer; `offerType` 2.
        case promotional
        /// For customers with a code; `offerType` 3.
        case code
        /// For customers who left; `offerType` 4.
        case winBack = "win-back"
    }

    /// How it is paid, in the terms of Apple's `offerDiscountType`.
    package enum PaymentMode: RawRepresentable, Codable, Hashable, Sendable {
        /// One free period of the offer's length.
        case freeTrial
        /// Several periods, each at the offer's price.
        case payAsYouGo
        /// One period of the offer's length at the offer's price.
        case payUpFront
        /// A word of Apple's that this program does not know.
        case unrecognised(String)

        /// The mode for one of Apple's words.
        package init(rawValue: String) {
            switch rawValue {
            case "FREE_TRIAL": self = .freeTrial
            case "PAY_AS_YOU_GO": self = .payAsYouGo
            case "PAY_UP_FRONT": self = .payUpFront
            default: self = .unrecognised(rawValue)
            }
        }

        /// Apple's word: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, or the unknown one.
        package var rawValue: String {
            switch self {
            case .freeTrial: "FREE_TRIAL"
            case .payAsYouGo: "PAY_AS_YOU_GO"
            case .payUpFront: "PAY_UP_FRONT"
            case .unrecognised(let word): word
            }
        }
    }

    /// The eligible customers.
    package let kind: Kind
    /// Apple's `offerIdentifier`; nil for introductory offers, which have none.
    package let identifier: String?
    /// How it is paid.
    package let paymentMode: PaymentMode
    /// The length of one of its periods.
    package let period: SubscriptionPeriod
    /// The number of periods, from 1; always 1 unless it is paid as you go.
    package let numberOfPeriods: Int
    /// The price of one period; nil if it is free or the catalog does not state it.
    package let price: CatalogPrice?

    private enum CodingKeys: String, CodingKey {
        case kind, numberOfPeriods, price
        case identifier = "offerIdentifier"
        case paymentMode = "offerDiscountType"
        case period = "offerPeriod"
    }

    /// An offer with these values.
    package init(
        kind: Kind,
        identifier: String?,
        paymentMode: PaymentMode,
        period: SubscriptionPeriod,
        numberOfPeriods: Int,
        price: CatalogPrice?
    ) {
        self.kind = kind
        self.identifier = identifier
        self.paymentMode = paymentMode
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.price = price
    }
}
