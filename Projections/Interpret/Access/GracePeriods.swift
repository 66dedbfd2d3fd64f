internal import Events

/// Finds the access that billing grace adds after a purchase: an overlay from renewal snapshots.
///
/// A snapshot is about the purchases that expire on its `renewalDate`; without one, about those
/// with the greatest expiry not after its as-of. The grace ends with the earliest of these:
///
/// 1. the date on which Apple revoked the purchase, which is status 5 from then on;
/// 2. the start of the next purchase of its course, unless that was revoked before it began;
/// 3. the date Apple set, which is never computed;
/// 4. the first later snapshot that no longer has a grace period;
/// 5. the first later snapshot with auto-renewal off, because cancelling ends a grace at once.
///
/// The last two are guesses, so Apple's own status has precedence: if the status it signed at that
/// instant is still 4, the grace continues
/// (https://developer.apple.com/documentation/appstoreservernotifications/status).
///
/// If Apple announced the grace without its date, `UndatedGraces` finds the end instead of rules 3
/// to 5. Otherwise a signed status decides nothing: if it differs, `report drift` lists it (Apple's
/// data: status values, traps 20 to 22).
struct GracePeriods {
    private let purchases: [Purchase]
    private let succession: Succession
    private let statuses: SignedStatuses
    private let undated: UndatedGraces?
    // By the expiry they are about, then by as-of.
    private let snapshots: [(expiresDate: Instant, snapshot: RenewalSnapshot)]

    /// Nil if Apple states no grace period: the common case, at no cost.
    init?(_ timeline: Timeline) {
        let isDated = timeline.statesGrace
        guard isDated || timeline.announcesGrace else { return nil }
        purchases = timeline.purchases
        statuses = SignedStatuses(timeline)
        succession = timeline.succession
        let expiries = purchases.indices.filter(succession.tookEffect)
            .map { timeline.purchases[$0].expiresDate }.sorted()
        undated = UndatedGraces(timeline, statuses, expiries: expiries)
        guard isDated else {
            snapshots = []
            return
        }
        snapshots = timeline.renewalSnapshots.compactMap { snapshot in
            let anchor = snapshot.renewalDate ?? expiries.last(notAfter: snapshot.asOf)
            return anchor.map { ($0, snapshot) }
        }.sorted { left, right in
            (left.0, left.1.asOf) < (right.0, right.1.asOf)
        }
    }

    /// The end of the grace after the purchase at that index, which ended naturally; nil if there
    /// is none, or if nothing of it is left.
    ///
    /// A purchase that was revoked at its expiry keeps an empty grace, which shows that.
    func end(
        after index: Int,
        under policy: AccessPolicy,
        citing citations: inout Citations
    ) -> PeriodEnd? {
        let expiresDate = purchases[index].expiresDate
        guard let stated = ending(of: expiresDate, before: nil, citing: &citations) else {
            return nil
        }
        var (end, isDated) = stated
        if let next = next(after: index), next.purchaseDate < end {
            (end, isDated) = (next.purchaseDate, true)
            citations.cite(next.firstOffset)
        }
        guard end > expiresDate else { return nil }

        let purchase = purchases[index]
        // A date of Apple's has precedence over an end that is only guessed from when it was stated.
        if let revocation = purchase.periodRevocation(citing: &citations),
            revocation.date < end || revocation.date == end && !isDated
        {
            return PeriodEnd(
                validTo: max(revocation.date, expiresDate),
                reason: revocation.reason,
                isNatural: false,
                suspensions: []
            )
        }
        return PeriodEnd(validTo: end, reason: nil, isNatural: true, suspensions: []).suspended(
            by: purchase.periodSuspensions.filter { $0.from >= expiresDate },
            under: policy,
            citing: &citations
        )
    }

    /// The end of the grace after an expiry as Apple states it, limited to statements before an
    /// instant if one is given; nil if there is none, or if nothing of it is left.
    func statedEnd(
        of expiresDate: Instant,
        before instant: Instant? = nil,
        citing citations: inout Citations
    ) -> Instant? {
        ending(of: expiresDate, before: instant, citing: &citations)?.end
    }

    // The same with whether it is a date, rather than the as-of of a statement.
    private func ending(
        of expiresDate: Instant,
        before instant: Instant?,
        citing citations: inout Citations
    ) -> (end: Instant, isDated: Bool)? {
        var graceOffset: Int64?
        var end = expiresDate
        var ending: (at: Instant, offset: Int64?)?
        let first = snapshots.partitioningIndex { $0.expiresDate >= expiresDate }
        for (anchor, snapshot) in snapshots[first...] {
            guard anchor == expiresDate, instant.map({ snapshot.asOf < $0 }) ?? true else { break }
            if graceOffset != nil, ending == nil { ending = self.ending(by: snapshot) }
            if case .value(.instant(let date)) = snapshot.gracePeriodExpiresDate {
                (graceOffset, end) = (snapshot.gracePeriodOffset, date)
            }
        }
        guard let graceOffset else {
            let end = undated?.end(of: expiresDate, before: instant, citing: &citations)
            return end.flatMap { $0.end > expiresDate ? $0 : nil }
        }
        citations.cite(graceOffset)
        var isDated = true
        if let ending, ending.at < end {
            (end, isDated) = (ending.at, false)
            ending.offset.map { citations.cite($0) }
        }
        return end > expiresDate ? (end, isDated) : nil
    }

    // When and by which event a snapshot ends a grace; nil if it does not.
    private func ending(by snapshot: RenewalSnapshot) -> (at: Instant, offset: Int64?)? {
        let isLeftOut = snapshot.gracePeriodExpiresDate == .none
        guard isLeftOut || snapshot.autoRenewStatus == 0,
            statuses.status(at: snapshot.asOf) != .gracePeriod
        else { return nil }
        let offset = isLeftOut ? snapshot.gracePeriodOffset : snapshot.autoRenewStatusOffset
        return (snapshot.asOf, offset)
    }

    /// Whether Apple announced a grace after an expiry, but never stated its end.
    func isUndated(after expiresDate: Instant) -> Bool {
        let isDated = snapshots.contains { anchor, snapshot in
            guard anchor == expiresDate, case .value = snapshot.gracePeriodExpiresDate else {
                return false
            }
            return true
        }
        return !isDated && undated?.isAnnounced(after: expiresDate) == true
    }

    private func next(after index: Int) -> Purchase? {
        let expiresDate = purchases[index].expiresDate
        let first = purchases.partitioningIndex { $0.purchaseDate >= expiresDate }
        return purchases[first...].indices.first { other in
            other != index && succession.tookEffect(other)
                && succession.areOfOneCourse(other, index)
                && !purchases[other].isRevokedBeforeStart
        }.map { purchases[$0] }
    }
}

extension Timeline {
    /// Whether Apple ever stated a billing grace period.
    var statesGrace: Bool {
        renewals.sorted.contains { assertion in
            assertion.fields.contains(.gracePeriodExpiresDate)
                && assertion.content.carried.contains(.gracePeriodExpiresDate)
        }
    }
}

extension [Instant] {
    fileprivate func last(notAfter instant: Instant) -> Instant? {
        let next = partitioningIndex { $0 > instant }
        return next > startIndex ? self[next - 1] : nil
    }
}

extension Timeline {
    private static let gracesKey = FoldMemo.Key<GracePeriods?>()

    /// The grace period that Apple stated; nil if it stated none.
    var graces: GracePeriods? {
        once(Timeline.gracesKey) { GracePeriods(self) }
    }
}
