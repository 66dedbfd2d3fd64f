public import Events

/// The terms of the next charge, as Apple states them in renewal info.
///
/// Sources: https://developer.apple.com/documentation/appstoreserverapi/renewalprice and
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
public struct RenewalTerms: Codable, Hashable, Sendable {
    /// Apple's `renewalPrice` in milliunits, after a discount by the offer; nil if not stated.
    public let priceMilliunits: Int64?
    /// ISO 4217 code of that price; nil if there is none.
    public let currency: String?
    /// The offer that applies to the charge; nil at the standard price, or if not stated.
    public private(set) var offer: Offer?
    /// Apple's `renewalBillingPlanType`: how the next period is billed; nil if not stated.
    public let billingPlanType: String?
    /// What happens to the commitment at its end; nil if there is none.
    public let commitment: Commitment?
    /// How many seats renew (`renewalQuantity`); nil if not stated.
    public let seatQuantity: Int64?
    /// The price of all these seats together, in milliunits; nil if it is not known.
    ///
    /// `priceMilliunits` is then the average price of one.
    public let totalMilliunits: Int64?
    /// The bundle that the next renewal belongs to; nil if not stated.
    public let bundleProductId: String?
    /// Whether the next renewal leaves the bundle.
    public let willUnbundle: Bool

    /// What happens to a commitment at its end, from Apple's `commitmentInfo` in renewal info.
    ///
    /// The customer may turn this off at any time; the months until then are charged all the same
    /// (https://developer.apple.com/documentation/appstoreserverapi/commitmentinfo).
    public struct Commitment: Codable, Hashable, Sendable {
        /// When a new commitment begins, unless it is off; nil if not stated.
        public let renewalDate: Instant?
        /// The price of the new commitment, in milliunits of the currency; nil if not stated.
        public let priceMilliunits: Int64?
        /// Whether there will be a new one; nil if not stated.
        public let isAutoRenewOn: Bool?
        /// The product of the new one; nil if not stated.
        public let autoRenewProductId: String?
        /// Apple's word for how the new one is billed; nil if not stated.
        public let billingPlanType: String?

        // Apple's names.
        private enum CodingKeys: String, CodingKey {
            case renewalDate = "commitmentRenewalDate"
            case priceMilliunits = "commitmentRenewalPrice"
            case isAutoRenewOn = "isCommitmentAutoRenewOn"
            case autoRenewProductId = "commitmentAutoRenewProductId"
            case billingPlanType = "commitmentRenewalBillingPlanType"
        }
    }

    /// An offer that applies to the next charge.
    public struct Offer: Codable, Hashable, Sendable {
        /// Apple's `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back, 5 retention; nil
        /// if
        /// only the identifier is stated.
        public let type: Int64?
        /// Apple's `offerIdentifier`; nil for introductory offers.
        public let identifier: String?
        /// Apple's `offerDiscountType`: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT; nil if not stated.
        public let discountType: String?
        /// Apple's `offerPeriod`, an ISO 8601 duration; nil if not stated.
        public let period: String?

        // Apple's names.
        private enum CodingKeys: String, CodingKey {
            case type = "offerType"
            case identifier = "offerIdentifier"
            case discountType = "offerDiscountType"
            case period = "offerPeriod"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case priceMilliunits = "renewalPrice"
        case currency
        case offer = "renewalOffer"
        case billingPlanType = "renewalBillingPlanType"
        case commitment
        case seatQuantity = "renewalQuantity"
        case totalMilliunits = "renewalTotal"
        case bundleProductId = "renewalBundleProductId"
        case willUnbundle
    }
}

extension RenewalTerms {
    /// The terms in a row of JSON; nil if it has none.
    init?(ifStatedIn decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        guard row.contains(.willUnbundle) else { return nil }
        try self.init(from: decoder)
    }
}

extension RenewalTerms {
    /// The terms of the next charge stated at an as-of, with their event; nil if none are stated.
    ///
    /// Each statement of a price or an offer replaces the earlier one: signed renewal info without
    /// an offer means that none applies, and without a price that none is known.
    static func stated(by sweep: Sweep) -> (terms: RenewalTerms?, offset: Int64?)? {
        let fields: [Field] = [
            .renewalPrice, .offerType, .offerIdentifier, .renewalBillingPlanType, .commitmentInfo,
        ]
        let seats = RenewalSeats(sweep)
        let stated = fields.first { sweep.fresh($0) != .unknown }
        guard let field = stated ?? seats.map({ _ in .extra }) else { return nil }
        func integer(_ field: Field) -> Int64? {
            if case .value(.integer(let number)) = sweep.fresh(field) { number } else { nil }
        }
        func text(_ field: Field) -> String? {
            if case .value(.text(let text)) = sweep.fresh(field) { text } else { nil }
        }

        let (type, identifier) = (integer(.offerType), text(.offerIdentifier))
        let price = integer(.renewalPrice)
        let offer =
            type == nil && identifier == nil
            ? nil
            : Offer(
                type: type,
                identifier: identifier,
                discountType: text(.offerDiscountType),
                period: text(.offerPeriod)
            )
        let plan = text(.renewalBillingPlanType)
        let commitment = text(.commitmentInfo).map { Commitment(ExtraObject($0)) }

        guard price != nil || offer != nil || plan != nil || commitment != nil || seats != nil
        else { return (nil, nil) }
        return (
            RenewalTerms(
                priceMilliunits: price,
                currency: price == nil ? nil : text(.currency),
                offer: offer,
                billingPlanType: plan,
                commitment: commitment,
                seatQuantity: seats?.quantity,
                totalMilliunits: seats?.total(averagePrice: price),
                bundleProductId: seats?.bundleProductId,
                willUnbundle: seats?.willUnbundle ?? false
            ),
            seats?.offset ?? sweep.decider(of: field)
        )
    }

    /// Whether both are the same; compares by bytes, unlike Swift's own comparison of texts.
    ///
    /// If only one of them has the discount and the period of an offer, which Apple began to sign
    /// later, the offer is still the same.
    func agrees(with other: RenewalTerms) -> Bool {
        func isSame(_ one: String?, _ other: String?) -> Bool {
            guard let one, let other else { return one == nil && other == nil }
            return byBytes(one, other) == nil
        }
        func isSameIfKnown(_ one: String?, _ other: String?) -> Bool {
            one == nil || other == nil || isSame(one, other)
        }
        return priceMilliunits == other.priceMilliunits && isSame(currency, other.currency)
            && (offer == nil) == (other.offer == nil) && offer?.type == other.offer?.type
            && isSame(offer?.identifier, other.offer?.identifier)
            && isSameIfKnown(offer?.discountType, other.offer?.discountType)
            && isSameIfKnown(offer?.period, other.offer?.period)
            && isSame(billingPlanType, other.billingPlanType)
            && (commitment == nil) == (other.commitment == nil)
            && commitment?.renewalDate == other.commitment?.renewalDate
            && commitment?.priceMilliunits == other.commitment?.priceMilliunits
            && commitment?.isAutoRenewOn == other.commitment?.isAutoRenewOn
            && isSame(commitment?.autoRenewProductId, other.commitment?.autoRenewProductId)
            && isSame(commitment?.billingPlanType, other.commitment?.billingPlanType)
            && seatQuantity == other.seatQuantity && totalMilliunits == other.totalMilliunits
            && isSame(bundleProductId, other.bundleProductId)
            && willUnbundle == other.willUnbundle
    }
}

extension RenewalTerms {
    /// The same, completed with what only the other one knows of the offer.
    func filled(from other: RenewalTerms) -> RenewalTerms {
        guard let offer, let others = other.offer else { return self }
        var terms = self
        terms.offer = Offer(
            type: offer.type,
            identifier: offer.identifier,
            discountType: offer.discountType ?? others.discountType,
            period: offer.period ?? others.period
        )
        return terms
    }
}

extension RenewalTerms.Commitment {
    fileprivate init(_ info: ExtraObject) {
        renewalDate = info.instant("commitmentRenewalDate")
        priceMilliunits = info.integer("commitmentRenewalPrice")
        isAutoRenewOn = info.integer("commitmentAutoRenewStatus").map { $0 == 1 }
        autoRenewProductId = info.text("commitmentAutoRenewProductId")
        billingPlanType = info.text("commitmentRenewalBillingPlanType")
    }
}
