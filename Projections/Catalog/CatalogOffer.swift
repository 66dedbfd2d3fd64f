/// An offer on a subscription: some periods cheaper, or free.
public struct CatalogOffer: Hashable, Sendable {
    /// Who it is for; the raw values are ours, the ranks Apple's `offerType`
    /// (Apple's data: transactions).
    public enum Kind: String, CaseIterable, Sendable {
        /// For those who never had one in the group; `offerType` 1.
        case introductory
        /// For those whom the developer chooses; `offerType` 2.
        case promotional
        /// For customers with a code; `offerType` 3.
        case code
        /// For those who left; `offerType` 4.
        case winBack = "win-back"
    }

    /// How it is paid, in the words of Apple's `offerDiscountType`.
    public enum PaymentMode: Hashable, Sendable {
        /// One free period of the offer's length.
        case freeTrial
        /// Several periods, each at the offer's price.
        case payAsYouGo
        /// One period of the offer's length at the offer's price.
        case payUpFront
        /// A word of Apple's that this program does not know.
        case unrecognised(String)

        /// The mode of one of Apple's words.
        public init(word: String) {
            switch word {
            case "FREE_TRIAL": self = .freeTrial
            case "PAY_AS_YOU_GO": self = .payAsYouGo
            case "PAY_UP_FRONT": self = .payUpFront
            default: self = .unrecognised(word)
            }
        }

        /// Apple's word: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, or the unknown one.
        public var word: String {
            switch self {
            case .freeTrial: "FREE_TRIAL"
            case .payAsYouGo: "PAY_AS_YOU_GO"
            case .payUpFront: "PAY_UP_FRONT"
            case .unrecognised(let word): word
            }
        }
    }

    /// Who it is for.
    public let kind: Kind
    /// Apple's `offerIdentifier`; nil for introductory offers, which have none.
    public let identifier: String?
    /// How it is paid.
    public let paymentMode: PaymentMode
    /// The length of one of its periods.
    public let period: SubscriptionPeriod
    /// How many periods; from 1, and 1 unless it is paid as you go.
    public let numberOfPeriods: Int
    /// What one period costs; nil where it is free or the catalog does not say.
    public let price: CatalogPrice?

    /// An offer of these values.
    public init(
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
