package import Events

/// Why a customer did or did not have access at an instant: the verdict, the answer at the time,
/// the shortest chain of events behind it, and which of them would change it.
///
/// Costs one fold for each instant at which something became known, one for each instant of a
/// statement by Apple, and one for each event of the chain; linear in the length of the history
/// times its number of instants.
package struct Explanation: Sendable {
    /// The instant asked about.
    package let at: Instant
    /// The answer for the instant, with everything known.
    package let entitled: AccessAnswer
    /// The answer for the instant, as known at that instant.
    package let served: AccessAnswer
    /// The answers for the instant, by each instant at which something became known, ascending; the
    /// last is `entitled`.
    package let answers: [KnownAnswer]
    /// How long the two answers differ around the instant; nil if they agree.
    package let difference: WrongAnswers.Stretch?
    /// Whenever the answer at the time differs from what is known now, at any instant.
    package let wrongAnswers: WrongAnswers
    /// Why this ledger cannot have been asked at the instant; nil if it can.
    package let notAsked: WrongAnswers.NotAsked?
    /// The events that produced the answers, in the order of Apple's dates: the same for every
    /// order of delivery.
    package let because: [DecisiveEvent]
    /// The events of `because` without which the answer would be the opposite.
    package let changesIf: [Position]
    /// The rows with everything known, for the picture.
    package let rowsNow: [ActivePeriod]
    /// The rows as known at the instant, for the picture.
    package let rowsThen: [ActivePeriod]
    /// The one-time purchases with everything known.
    package let oneTimeNow: [OneTimePurchase]
    /// The one-time purchases as known at the instant.
    package let oneTimeThen: [OneTimePurchase]
    /// Refunds of the deciding periods that arrived after those had ended: they return money
    /// without ending access (Apple's data: trap 10).
    package let refundsAfterEnd: [RefundCase]
    /// What counted as access.
    package let policy: AccessPolicy

    /// The explanation of an instant.
    ///
    /// - Parameters:
    ///   - histories: One subscription, or all of one customer, cut to the knowledge that counts.
    ///   - instant: The instant asked about.
    ///   - product: Only access to this product; nil for any.
    ///   - stream: The stream asked about by its own id; nil if a customer is asked about.
    ///   - policy: What counts as access.
    ///   - catalogs: The type of a product if Apple does not state it.
    ///   - tenures: The time around the instant in which a subscription was the customer's; none
    ///     for one that counts for all of time.
    ///   - connections: When the owner of a subscription became known, if that was later than its
    ///     events.
    ///   - firstCommit: When the ledger made its first commit; nil if that does not matter.
    ///   - now: Our clock; nil if no instant is in the future.
    package init(
        _ histories: [RecordedHistory],
        at instant: Instant,
        product: String? = nil,
        askedFor stream: StreamID? = nil,
        under policy: AccessPolicy = .current,
        _ catalogs: CatalogHistory = .none,
        tenures: [StreamID: Range<Instant>] = [:],
        connections: [StreamID: Instant] = [:],
        firstCommit: Instant? = nil,
        now: Instant? = nil
    ) {
        (at, self.policy) = (instant, policy)
        let scope = { (history: RecordedHistory) in
            KnownAccess.Scope(product, policy, catalogs, tenure: tenures[history.stream])
        }
        let accesses = histories.map { history in
            let seen = connections[history.stream].map(history.asFirstSeen) ?? history
            return KnownAccess(seen, in: scope(history))
        }
        let course = KnowledgeCourse(accesses)
        let end = course.instants.last ?? instant

        rowsNow = accesses.rows(knownAt: max(end, instant))
        rowsThen = accesses.rows(knownAt: instant)
        oneTimeNow = accesses.oneTimePurchases(knownAt: max(end, instant))
        oneTimeThen = accesses.oneTimePurchases(knownAt: instant)
        entitled = accesses.answer(at: instant, knownAt: max(end, instant), askedFor: stream)
        served = accesses.answer(at: instant, knownAt: instant, askedFor: stream)
        answers = course.answers(at: instant, askedFor: stream)
        refundsAfterEnd = histories.refunds(
            afterEndOf: [entitled.period, served.period].compactMap { $0 },
            under: policy
        )

        wrongAnswers = WrongAnswers(course, firstCommit: firstCommit)
        difference = wrongAnswers.stretch(holding: instant)
        notAsked =
            now.map { $0 < instant } ?? false
            ? .inFuture
            : course.notAsked(at: instant, served: served, difference, firstCommit: firstCommit)

        let stated = zip(histories, accesses).map { history, access in
            KnownAccess(stated: history, in: scope(history), knownAs: access)
        }
        because = DecisiveChain(stated, at: instant, entitled: entitled, served: served).events
        func answer(without position: Position) -> AccessAnswer {
            AccessAnswer(
                histories,
                without: position,
                product,
                at: instant,
                under: policy,
                catalogs
            )
        }
        changesIf = because.map(\.position).uniqued.filter { [entitled] position in
            answer(without: position).hasAccess != entitled.hasAccess
        }
    }
}

extension [Position] {
    // Without duplicates, in order of first appearance.
    fileprivate var uniqued: [Position] {
        reduce(into: []) { unique, position in
            if !unique.contains(position) { unique.append(position) }
        }
    }
}

extension [RecordedHistory] {
    // The refunds of these periods that arrived after they had ended.
    fileprivate func refunds(
        afterEndOf periods: [ActivePeriod],
        under policy: AccessPolicy
    ) -> [RefundCase] {
        flatMap { Refunds(Timeline($0.latest).under(policy)).rows }
            .filter { $0.comesAfterEnd(of: periods) }
    }
}

extension KnowledgeCourse {
    // Also without a difference: if nothing was known and an import brought everything, "no" was
    // right by chance, and was not asked for.
    fileprivate func notAsked(
        at instant: Instant,
        served: AccessAnswer,
        _ difference: WrongAnswers.Stretch?,
        firstCommit: Instant?
    ) -> WrongAnswers.NotAsked? {
        if let firstCommit, instant < firstCommit { return .beforeLedger }
        if let difference { return difference.notAsked }
        guard served.reason == .notKnownYet, let first = instants.first else { return nil }
        return isImported(at: first) ? .imported : nil
    }
}

extension RefundCase {
    // The refund for the rest of a replaced period is part of the change that replaced it.
    fileprivate func comesAfterEnd(of periods: [ActivePeriod]) -> Bool {
        guard isNet, state == .refunded, kind != .replaced, let refunded else { return false }
        return periods.contains { period in
            period.stream == stream && period.purchaseDate == purchaseDate
                && byBytes(period.productId, productId) == nil && period.validTo <= refunded
                && period.endReason != .refunded && period.endReason != .revoked
        }
    }
}

extension AccessAnswer {
    /// The answer without one of the events.
    fileprivate init(
        _ histories: [RecordedHistory],
        without position: Position,
        _ product: String?,
        at instant: Instant,
        under policy: AccessPolicy,
        _ catalogs: CatalogHistory
    ) {
        let remaining = histories.map { $0.latest.without(position) }
        let timelines = remaining.map { Timeline($0).under(policy) }
        self.init(
            timelines.flatMap { ActivePeriods($0).rows }.filter { $0.isOf(product) },
            timelines.flatMap { OneTimePurchase.all(of: $0, catalogs) }
                .filter { $0.isOf(product) },
            isKnown: remaining.contains { !$0.events.isEmpty },
            at: instant
        )
    }
}
