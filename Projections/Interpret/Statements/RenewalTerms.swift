public import Events

/// What the next charge will be, as Apple says it in renewal info.
///
/// Sources: https://developer.apple.com/documentation/appstoreserverapi/renewalprice and
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
public struct RenewalTerms: Hashable, Sendable {
    /// Apple's `renewalPrice` in milliunits, after a discount by the offer; nil where not said.
    public let priceMilliunits: Int64?
    /// ISO 4217 of that price; nil where there is none.
    public let currency: String?
    /// The offer that applies to the charge; nil at the standard price, or where not said.
    public let offer: Offer?
    /// Apple's `renewalBillingPlanType`: how the next period is paid; nil where not said.
    public let billingPlanType: String?
    /// What becomes of the commitment when it ends; nil where there is none.
    public let commitment: Commitment?

    /// What becomes of a commitment when it ends, in Apple's `commitmentInfo` of renewal info.
    ///
    /// The customer may turn this off at any time; the months until then are charged all the same
    /// (https://developer.apple.com/documentation/appstoreserverapi/commitmentinfo).
    public struct Commitment: Hashable, Sendable {
        /// When a new commitment begins, unless it is off; nil where not said.
        public let renewalDate: Instant?
        /// What the new commitment costs, in milliunits of the currency; nil where not said.
        public let priceMilliunits: Int64?
        /// Whether there will be a new one; nil where not said.
        public let isAutoRenewOn: Bool?
        /// The product of the new one; nil where not said.
        public let autoRenewProductId: String?
        /// Apple's word for how the new one is paid; nil where not said.
        public let billingPlanType: String?
    }

    /// An offer that applies to the next charge.
    public struct Offer: Hashable, Sendable {
        /// Apple's `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back; nil where
        /// only the identifier is said.
        public let type: Int64?
        /// Apple's `offerIdentifier`; nil for introductory offers.
        public let identifier: String?
        /// Apple's `offerDiscountType`: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT; nil if not said.
        public let discountType: String?
        /// Apple's `offerPeriod`, a duration of ISO 8601; nil where not said.
        public let period: String?
    }
}

extension RenewalTerms {
    /// What an as-of says of the next charge, with the event that does; nil where it is silent.
    ///
    /// Each statement that speaks of price or offer replaces what was said before: signed renewal
    /// info without an offer says that none applies, and without a price that none is known.
    static func stated(by sweep: Sweep) -> (terms: RenewalTerms?, offset: Int64?)? {
        let fields: [Field] = [
            .renewalPrice, .offerType, .offerIdentifier, .renewalBillingPlanType, .commitmentInfo,
        ]
        guard let field = fields.first(where: { sweep.fresh($0) != .unknown }) else { return nil }
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
        guard price != nil || offer != nil || plan != nil || commitment != nil else {
            return (nil, nil)
        }
        return (
            RenewalTerms(
                priceMilliunits: price,
                currency: price == nil ? nil : text(.currency),
                offer: offer,
                billingPlanType: plan,
                commitment: commitment
            ),
            sweep.decider(of: field)
        )
    }

    /// Whether both say the same; by bytes, which Swift's own comparison of texts is not.
    ///
    /// That Apple began to sign the discount and the period of an offer changes no offer.
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
    }
}

extension RenewalTerms {
    /// The same with what only the other one knows of the offer.
    func filled(from other: RenewalTerms) -> RenewalTerms {
        guard let offer, let others = other.offer else { return self }
        return RenewalTerms(
            priceMilliunits: priceMilliunits,
            currency: currency,
            offer: Offer(
                type: offer.type,
                identifier: offer.identifier,
                discountType: offer.discountType ?? others.discountType,
                period: offer.period ?? others.period
            ),
            billingPlanType: billingPlanType,
            commitment: commitment
        )
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
