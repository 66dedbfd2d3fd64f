package import Events

/// A life as known to a reader of everything that was signed up to an instant, with the rows that
/// the tables must then have.
///
/// Every truth is computed from here: from what happened and when Apple signed it, never from
/// payloads. The folds are tested against it, so it takes from `Projections` only the words of
/// their rows, and calls no logic there. The latest knowledge counts: a reversed refund leaves the
/// access as if it had not happened.
package struct KnownLife: Sendable {
    /// Apple's renewal statement at one instant, with the state at that time.
    struct Statement: Sendable {
        let signedAt: Instant
        let state: LifeState
    }

    let identity: LifeIdentity
    /// What happened, in order.
    let chapters: [SubscriptionLife.Chapter]
    /// The state after the last chapter.
    private(set) var state: LifeState
    /// The deliveries from which all this is known.
    private(set) var source = DeliverySource.unasked
    /// The latest signing date; nothing is known about the time after it.
    let horizon: Instant
    /// The rows of `active_periods`.
    let periods: [SimulatedPeriod]
    /// Every renewal statement about the subscription, by signing date.
    let statements: [Statement]
    /// For each purchase, when Apple first signed it.
    let firstSigned: [Instant]

    /// The life after these chapters; without rows if nothing is known of it.
    init(identity: LifeIdentity, chapters: [SubscriptionLife.Chapter], horizon: Instant?) {
        let state = chapters.last?.state ?? LifeState()
        let horizon = horizon ?? Instant(milliseconds: .min)
        self.identity = identity
        self.chapters = chapters
        self.state = state
        self.horizon = horizon
        periods = state.periods(horizon: horizon, of: identity.ownership)
        statements = chapters.flatMap { chapter in
            chapter.statementInstants.map { Statement(signedAt: $0, state: chapter.state) }
        }
        var firstSigned: [Instant] = []
        for chapter in chapters {
            while firstSigned.count < chapter.state.purchases.count {
                firstSigned.append(chapter.signedAt)
            }
        }
        self.firstSigned = firstSigned
    }
}

extension KnownLife {
    /// Removes what those deliveries do not show.
    mutating func restrict(to source: DeliverySource) {
        self.source = source
        guard source == .polls else { return }
        state.refunds.removeAll { $0.revocation == nil && $0.seats == nil }
        for index in state.refunds.indices {
            state.refunds[index].requestedAt = nil
            state.refunds[index].isReversalAnnounced = false
        }
    }
}

extension SubscriptionLife {
    /// The rows that all tables must have for a reader informed in that way.
    package func tables(from source: DeliverySource) -> KnownLife {
        var known = known
        known.restrict(to: source)
        return known
    }

    /// The rows that `renewal_states` must have once everything was delivered.
    package var states: [SimulatedRenewalState] { known.states }

    /// The rows of `plan_changes`.
    package var planChanges: [SimulatedPlanChange] { known.planChanges }

    /// The rows of `refunds`, without those of one-time purchases, which are separate streams.
    package var refundCases: [SimulatedRefund] { known.refundCases }

    /// The rows of `transactions`.
    package var transactions: [SimulatedTransaction] { known.transactions }

    /// The rows of `movements`; Apple's labels for them are not simulated, but follow from them.
    package var movements: [SimulatedMovement] { known.movements }

    /// The life once everything was delivered.
    var known: KnownLife {
        KnownLife(identity: identity, chapters: chapters, horizon: horizon)
    }

    /// The life as known to a reader of everything that had happened by an instant, as in
    /// `periods(asOf:)`.
    package func known(asOf instant: Instant) -> KnownLife {
        KnownLife(
            identity: identity,
            chapters: chapters.filter { $0.step.at <= instant },
            horizon: instant
        )
    }
}

extension SubscriptionLife.Chapter {
    /// When Apple signs something about the subscription: with each notification or, for a change
    /// worth a poll that has none, in the answer to that poll.
    var signingInstants: [Instant] {
        if isSilent { return [signedAt] }
        return notices.indices.map { SubscriptionLife.signedAt(self, notice: $0) }
    }

    /// The signing instants that include the next renewal.
    var statementInstants: [Instant] { isSeparate ? [] : signingInstants }

    /// Whether only polling Apple shows it.
    var isSilent: Bool {
        switch step {
        case .reverseRefund(_, false, _), .setAppAccountToken: true
        default: false
        }
    }
}
