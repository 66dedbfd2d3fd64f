internal import Events

/// What was known about the renewal at one as-of of a statement by Apple about it.
struct RenewalStatement {
    /// Apple's date for the statement.
    let asOf: Instant
    /// The expiry that it names, in whole seconds; nil if it names none.
    let renewalDate: Instant?
    /// Whether the renewal is being retried, as stated at this as-of; nil if not stated.
    let isInBillingRetry: Bool?
    /// Why the subscription ended, as known at this as-of; nil if it has not, or if no reason was
    /// stated.
    let expirationIntent: Int64?
    /// Whether it is stated at this as-of, and not only carried over.
    let statesExpirationIntent: Bool
    /// The setting, as known at this as-of; nil if it was never stated.
    let isAutoRenewOn: Bool?
    /// Whether it is stated at this as-of, and not only carried over.
    let statesAutoRenew: Bool
    /// Whether a list of an account's renewals at this as-of omits this one.
    let leavesAutoRenewOut: Bool
    /// The next product, as known at this as-of; nil if it was never stated.
    let autoRenewProductId: String?
    /// The answer to a price increase, as known at this as-of.
    let priceConsent: PriceConsent?
    /// Whether the price or the offer of the next charge is stated at this as-of.
    let statesTerms: Bool
    /// The stated terms; nil if there are none, or if they are not stated.
    let terms: RenewalTerms?
    /// The offset of the event that states them.
    let termsOffset: Int64?
    /// The offset of the event that decides the retry at this as-of.
    let retryOffset: Int64?
    /// The offset of the event that decides why it ended.
    let intentOffset: Int64?
    /// The offset of the event that decides the setting.
    let autoRenewOffset: Int64?
    /// The offset of the event that decides the next product.
    let productOffset: Int64?
    /// The offset of the event that decides the consent.
    let consentOffset: Int64?

    init(_ sweep: Sweep, asOf: Instant) {
        self.asOf = asOf
        if case .value(.instant(let date)) = sweep.fresh(.renewalDate) {
            renewalDate = date.flooredToSecond
        } else {
            renewalDate = nil
        }
        switch sweep.fresh(.isInBillingRetryPeriod) {
        case .value(let value): isInBillingRetry = value == .boolean(true)
        case .none: isInBillingRetry = false
        case .unknown: isInBillingRetry = nil
        }

        if case .value(.integer(let intent)) = sweep.state(of: .expirationIntent) {
            expirationIntent = intent
        } else {
            expirationIntent = nil
        }
        statesExpirationIntent =
            expirationIntent != nil && sweep.fresh(.expirationIntent) != .unknown
        intentOffset = sweep.decider(of: .expirationIntent)

        isAutoRenewOn = RenewalStatement.flag(sweep.state(of: .autoRenewStatus))
        statesAutoRenew = RenewalStatement.flag(sweep.fresh(.autoRenewStatus)) != nil
        let listed: [Field] = [.autoRenewStatus, .autoRenewProductId, .productId, .renewalDate]
        leavesAutoRenewOut =
            sweep.fresh(.isInBillingRetryPeriod) == .none
            && listed.allSatisfy { sweep.fresh($0) == .unknown }
        if case .value(.text(let product)) = sweep.state(of: .autoRenewProductId) {
            autoRenewProductId = product
        } else {
            autoRenewProductId = nil
        }

        switch sweep.state(of: .priceIncreaseStatus) {
        case .value(.integer(0)): priceConsent = .pending
        case .value(.integer(1)): priceConsent = .accepted
        default: priceConsent = nil
        }
        let stated = RenewalTerms.stated(by: sweep)
        statesTerms = stated != nil
        (terms, termsOffset) = stated ?? (nil, nil)
        retryOffset = sweep.decider(of: .isInBillingRetryPeriod)
        autoRenewOffset = sweep.decider(of: .autoRenewStatus)
        productOffset = sweep.decider(of: .autoRenewProductId)
        consentOffset = priceConsent == nil ? nil : sweep.decider(of: .priceIncreaseStatus)
    }

    /// Whether a billing error ended the subscription, as known at this as-of.
    var isBillingError: Bool { expirationIntent == RenewalStatement.billingErrorIntent }

    /// Apple's `expirationIntent` of a subscription that could not be charged
    /// (Apple's data: verifyReceipt response, renewal info).
    static let billingErrorIntent: Int64 = 2

    private static func flag(_ state: Knowledge.State) -> Bool? {
        switch state {
        case .value(.integer(0)): false
        case .value(.integer(1)): true
        default: nil
        }
    }
}

extension Timeline {
    private static let statementsKey = FoldMemo.Key<[RenewalStatement]>()

    /// What was known about the renewal, at each as-of of a statement by Apple about it.
    var renewalStatements: [RenewalStatement] {
        once(Timeline.statementsKey) { foldedRenewalStatements }
    }

    private var foldedRenewalStatements: [RenewalStatement] {
        var statements: [RenewalStatement] = []
        statements.reserveCapacity(renewals.sorted.count)
        var sweep = Sweep(renewals)
        while sweep.advance() {
            guard let asOf = sweep.asOf else { break }
            statements.append(RenewalStatement(sweep, asOf: asOf))
        }
        return statements
    }
}
