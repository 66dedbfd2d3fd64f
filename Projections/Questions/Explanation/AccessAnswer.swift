package import Events

/// Whether there is access at an instant, as far as was known, and why.
package enum AccessAnswer: Hashable, Sendable {
    /// Yes, through that period.
    case access(ActivePeriod)
    /// Yes, through a non-consumable that is owned; a period that gives access has precedence.
    case owned(OneTimePurchase)
    /// No; the period is the last one that began before, if there is one; the part of a purchase
    /// that a refund or its reversal left is a period of its own.
    case none(NoAccessReason, ActivePeriod?)
    /// No; there was no period, but this one-time purchase.
    case notOwned(NoAccessReason, OneTimePurchase)

    /// The answer of the rows of one or more subscriptions.
    ///
    /// If several periods contain the instant, the one that began last counts; if none does, the
    /// purchase that began last gives the reason.
    ///
    /// - Parameters:
    ///   - rows: What is known of each period, in any order.
    ///   - oneTime: The one-time purchases, in any order; the one bought last counts.
    ///   - isKnown: Whether any event is known at all.
    ///   - instant: The instant asked about.
    ///   - stream: The stream asked about by its own id: without access, its one-time purchase
    ///     gives the reason, rather than the customer's other purchases.
    init(
        _ rows: [ActivePeriod],
        _ oneTime: [OneTimePurchase] = [],
        isKnown: Bool,
        at instant: Instant,
        askedFor stream: StreamID? = nil
    ) {
        self.init(
            AccessDeciders(rows, oneTime, isKnown: isKnown, at: instant, askedFor: stream),
            at: instant
        )
    }

    /// The answer that these periods and purchases give.
    init(_ deciders: AccessDeciders, at instant: Instant) {
        if let row = deciders.granting {
            self = .access(row)
        } else if let purchase = deciders.owned {
            self = .owned(purchase)
        } else if let purchase = deciders.asked {
            self = .notOwned(NoAccessReason(purchase, at: instant), purchase)
        } else if let row = deciders.lastBegun {
            self = .none(NoAccessReason(row.endReason), row)
        } else if let purchase = deciders.bought {
            self = .notOwned(NoAccessReason(purchase, at: instant), purchase)
        } else if !deciders.isKnown {
            self = .none(.notKnownYet, nil)
        } else {
            self = .none(deciders.firstPurchase == nil ? .neverBought : .notYetBought, nil)
        }
    }

    /// The answer of one subscription, under the policy of its timeline.
    package init(_ timeline: Timeline, at instant: Instant) {
        self.init(ActivePeriods(timeline).rows, isKnown: timeline.horizon != nil, at: instant)
    }

    /// Whether there is access.
    package var hasAccess: Bool {
        switch self {
        case .access, .owned: true
        case .none, .notOwned: false
        }
    }

    /// The period that decides the answer; nil if no purchase had begun.
    package var period: ActivePeriod? {
        switch self {
        case .access(let period): period
        case .none(_, let period): period
        case .owned, .notOwned: nil
        }
    }

    /// The one-time purchase that decides the answer; nil if none does.
    package var oneTimePurchase: OneTimePurchase? {
        switch self {
        case .owned(let purchase), .notOwned(_, let purchase): purchase
        case .access, .none: nil
        }
    }

    /// Why there is none; nil if there is access.
    package var reason: NoAccessReason? {
        switch self {
        case .none(let reason, _), .notOwned(let reason, _): reason
        case .access, .owned: nil
        }
    }
}

/// Why there is no access; the raw value is the word for JSON.
package enum NoAccessReason: String, CaseIterable, Sendable {
    /// The ledger had no event of the subscription yet.
    case notKnownYet
    /// Nothing was ever bought.
    case neverBought
    /// The first purchase comes later.
    case notYetBought
    /// The last period, with its grace, had ended.
    case expired
    /// Apple had refunded the last purchase (Apple's data: trap 10).
    case refunded
    /// Family sharing had ended (Apple's data: trap 33).
    case revoked
    /// The assignment of the seat had ended (Apple's data: seats).
    case assignmentEnded
    /// Another purchase had replaced it; if a product was asked for, one of another product.
    case upgraded
    /// A one-time purchase for which only the app knows what it still gives (Apple's data: trap
    /// 35).
    case notJudged

    fileprivate init(_ purchase: OneTimePurchase, at instant: Instant) {
        if !purchase.isJudged, !purchase.isRevoked(at: instant) {
            self = .notJudged
        } else {
            self = NoAccessReason(purchase.sharing?.endReason ?? .refunded)
        }
    }

    init(_ endReason: ActivePeriod.EndReason) {
        self =
            switch endReason {
            case .expired, .open: .expired
            case .upgraded, .replaced: .upgraded
            case .refunded: .refunded
            case .revoked: .revoked
            case .assignmentEnded: .assignmentEnded
            }
    }
}

extension ActivePeriod {
    /// Whether two rows are of one purchase: the same key, ignoring an extended expiry (Apple's
    /// data: trap 7).
    func isOfSamePurchase(as other: ActivePeriod) -> Bool {
        purchaseDate == other.purchaseDate && stream == other.stream
            && byBytes(productId, other.productId) == nil
    }

    /// Whether a row is of billing grace.
    var isGrace: Bool { kind == .grace }
}
