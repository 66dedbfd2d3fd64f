public import EventLog
public import Events
internal import Projections

/// The state of a subscription over time, and how it was set to renew.
public struct StateDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Its states by time.
    public let states: [State]
    /// Why there is no state, or none at the instant asked about; nil if there is one.
    public let noState: NoState?
    /// The one-time purchase, if the id names one; nil for a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// Why there is no state.
    public struct NoState: Codable, Hashable, Sendable {
        /// `oneTimePurchase`, or why there is no access at the instant.
        public let reason: String
        /// The end of the last access; nil if there was none.
        public let since: Instant?
    }

    /// An interval in which nothing about the state changed.
    public struct State: Codable, Hashable, Sendable {
        /// Its first instant.
        public let validFrom: Instant
        /// Its end, exclusive; nil until further notice.
        public let validTo: Instant?
        /// Apple's status in words.
        public let status: String
        /// The state of the next charge: `waiting`, `succeeded`, `failed` or `closed`.
        public let charge: String
        /// Whether it is set to renew; nil if Apple never stated it.
        public let isAutoRenewOn: Bool?
        /// The product that renews next; nil if Apple never stated it.
        public let autoRenewProductId: String?
        /// The answer to a price increase: `pending` or `accepted`; nil without one.
        public let priceConsent: String?
        /// Why it ended, if Apple states a reason.
        public let expirationReason: String?
        /// The next charge, in milliunits.
        public let renewalPrice: Int64?
        /// Its currency.
        public let currency: String?
        /// The offer of the next charge.
        public let renewalOffer: Offer?
        /// How the next period is billed.
        public let renewalBillingPlanType: String?
        /// What happens to the commitment at its end.
        public let commitment: Commitment?
        /// Apple's `renewalQuantity`: how many seats renew; `renewalPrice` is then the average price
        /// of one.
        public let renewalQuantity: Int64?
        /// The next charge for all seats, in milliunits.
        public let renewalTotal: Int64?
        /// Apple's `bundleProductId` of the next renewal.
        public let renewalBundleProductId: String?
        /// Whether the next renewal leaves the bundle; nil if no renewal is stated.
        public let willUnbundle: Bool?
        /// The events it is based on.
        public let positions: [Position]
    }

    /// What happens to a commitment at its end, under Apple's names.
    public struct Commitment: Codable, Hashable, Sendable {
        /// When it renews, or ends.
        public let commitmentRenewalDate: Instant?
        /// The price of the whole next commitment, in milliunits.
        public let commitmentRenewalPrice: Int64?
        /// Whether it renews.
        public let isCommitmentAutoRenewOn: Bool?
        /// The product it renews to.
        public let commitmentAutoRenewProductId: String?
        /// How the next one is billed.
        public let commitmentRenewalBillingPlanType: String?
    }

    /// The offer of the next charge, under Apple's names.
    public struct Offer: Codable, Hashable, Sendable {
        /// Apple's `offerType`.
        public let offerType: Int64?
        /// Apple's `offerIdentifier`.
        public let offerIdentifier: String?
        /// Apple's `offerDiscountType`.
        public let offerDiscountType: String?
        /// Apple's `offerPeriod`.
        public let offerPeriod: String?
    }
}

extension Ledger {
    /// The state of a subscription over time, and how it was set to renew.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the state at it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func state(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> StateDocument {
        StateDocument(try await known(subject, knownAt: knownAt), at: instant)
    }
}

extension StateDocument {
    fileprivate init(_ known: KnownSubscription, at instant: Instant?) {
        let all = RenewalStates(known.timeline)
        let rows = instant.map { all.state(at: $0).map { [$0] } ?? [] } ?? all.rows
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        states = rows.map { State($0) }
        oneTimePurchase = OneTimePurchaseDocument(insteadOf: known)
        // After Apple's last statement there is no state, but how the access ended is known.
        if rows.isEmpty, oneTimePurchase != nil {
            noState = NoState(reason: "oneTimePurchase", since: nil)
        } else if rows.isEmpty, let instant {
            let answer = AccessAnswer(known.timeline, at: instant)
            noState = answer.reason.map {
                NoState(reason: $0.rawValue, since: answer.period?.validTo)
            }
        } else {
            noState = nil
        }
        erasures = known.notes.erasures
        otherSubscriptions = known.notes.others
    }
}

extension StateDocument.State {
    fileprivate init(_ row: RenewalState) {
        validFrom = row.validFrom
        validTo = row.validTo
        status = row.status.description
        charge = row.charge.rawValue
        isAutoRenewOn = row.isAutoRenewOn
        autoRenewProductId = row.autoRenewProductId
        priceConsent = row.priceConsent?.rawValue
        expirationReason = row.expirationReason?.rawValue
        renewalPrice = row.terms?.priceMilliunits
        currency = row.terms?.currency
        renewalOffer = row.terms?.offer.map { offer in
            StateDocument.Offer(
                offerType: offer.type,
                offerIdentifier: offer.identifier,
                offerDiscountType: offer.discountType,
                offerPeriod: offer.period
            )
        }
        renewalBillingPlanType = row.terms?.billingPlanType
        commitment = row.terms?.commitment.map { commitment in
            StateDocument.Commitment(
                commitmentRenewalDate: commitment.renewalDate,
                commitmentRenewalPrice: commitment.priceMilliunits,
                isCommitmentAutoRenewOn: commitment.isAutoRenewOn,
                commitmentAutoRenewProductId: commitment.autoRenewProductId,
                commitmentRenewalBillingPlanType: commitment.billingPlanType
            )
        }
        renewalQuantity = row.terms?.seatQuantity
        renewalTotal = row.terms?.totalMilliunits
        renewalBundleProductId = row.terms?.bundleProductId
        willUnbundle = row.terms?.willUnbundle
        positions = row.positions
    }
}
