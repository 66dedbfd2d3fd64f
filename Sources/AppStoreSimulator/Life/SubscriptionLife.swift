package import Events
internal import Projections

/// The whole life of one subscription: what happened, what Apple reports about it, and the truth.
///
/// A life is built from a script that is either hand-written or drawn from a seed. The truth is
/// computed from the script alone, never from payloads, so that a fold can be compared with it.
package struct SubscriptionLife: Sendable {
    /// The identity that all payloads share.
    package let identity: LifeIdentity
    /// The store that signs.
    package private(set) var store: SimulatedStore
    /// What happened, in true order.
    package let events: [SimulatedEvent]
    /// What happened in the life.
    package let kinds: Set<LifeKind>

    let chapters: [Chapter]

    /// A step, what Apple reported about it, and the state after it.
    struct Chapter: Sendable {
        let step: LifeStep
        let signedAt: Instant
        let notices: [LifeMachine.Notice]
        let state: LifeState
    }

    /// The life of a script.
    ///
    /// Throws `ScriptError` for the first step that the App Store would not have allowed.
    package init(
        identity: LifeIdentity,
        store: SimulatedStore,
        script: [LifeStep]
    ) throws(ScriptError) {
        var machine = LifeMachine(identity)
        var chapters: [Chapter] = []
        for (number, step) in script.enumerated() {
            let signedAt = identity.signedAt(step: number, at: step.at)
            let notices = try machine.apply(step, signedAt: signedAt)
            chapters.append(
                Chapter(step: step, signedAt: signedAt, notices: notices, state: machine.state)
            )
        }
        self.identity = identity
        self.store = store
        self.chapters = chapters
        kinds = machine.kinds
        events = chapters.map { chapter in
            SimulatedEvent(
                step: chapter.step,
                happenedAt: chapter.step.at,
                signedAt: chapter.signedAt,
                status: chapter.state.status(at: chapter.signedAt)?.appleNumber
            )
        }
    }

    /// The same life at another pace.
    package func at(_ pace: SimulatedPace) -> SubscriptionLife {
        var life = self
        life.store = store.at(pace)
        return life
    }

    /// Apple's id of the subscription.
    package var originalTransactionId: String { identity.originalTransactionId }

    /// The greatest `signedDate` of any payload about the subscription; nil if there is none.
    ///
    /// One-time purchases are separate streams, and released claims of seats name no transaction:
    /// they do not count.
    package var horizon: Instant? {
        chapters.last { !$0.isSeparate }.map { $0.signingInstants.last ?? $0.signedAt }
    }

    /// The rows that `active_periods` must have once everything was delivered.
    package var periods: [SimulatedPeriod] {
        guard let horizon, let last = chapters.last else { return [] }
        return last.state.periods(horizon: horizon, of: identity.ownership)
    }

    /// The intervals with access once everything was delivered.
    package var active: [AccessInterval] { AccessInterval.union(of: periods) }

    /// The rows for a reader who knows everything that had happened by an instant, from payloads of
    /// which the newest was signed at that instant.
    ///
    /// Exact if something was signed at the instant (`SimulatedEvent.signedAt`): a grace period
    /// that the customer cancels ends with Apple's first statement about it, and this assumes that
    /// it arrived at once.
    package func periods(asOf instant: Instant) -> [SimulatedPeriod] {
        state(asOf: instant)?.periods(horizon: instant, of: identity.ownership) ?? []
    }

    /// The product that was bought last by an instant; nil before the first purchase.
    package func product(asOf instant: Instant) -> SimulatedProduct? {
        state(asOf: instant)?.newest?.product
    }

    /// The state at an instant; nil before anything happened.
    func state(asOf instant: Instant) -> LifeState? {
        chapters.last { $0.step.at <= instant }?.state
    }

    /// When a notification of a chapter is signed: the second one twenty seconds after the first.
    static func signedAt(_ chapter: Chapter, notice number: Int) -> Instant {
        signedAt(chapter.signedAt, notice: number)
    }

    /// When a notification is signed, given when the first one of its step is.
    static func signedAt(_ first: Instant, notice number: Int) -> Instant {
        first.advanced(by: Int64(number) * 20_000)
    }
}

extension SubscriptionLife.Chapter {
    /// Whether it states nothing about the subscription itself.
    var isSeparate: Bool {
        switch step {
        case .buyConsumable, .buyOnce, .refundOneTime, .unclaimSeats: true
        default: false
        }
    }
}
