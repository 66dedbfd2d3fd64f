internal import Events

/// The grace periods that Apple announced without their end: a signed status 4, or
/// `DID_FAIL_TO_RENEW` with the subtype `GRACE_PERIOD`, and no `gracePeriodExpiresDate` (Apple's
/// data: trap 20).
///
/// The status states that there is access, so the grace continues until Apple states otherwise: by
/// a status without access, auto-renewal off, or renewal info without a retry. It ends after the
/// longest grace period that Apple offers, even without such a statement.
struct UndatedGraces {
    /// The longest grace period that Apple offers, in milliseconds: 28 days (Apple's data: trap
    /// 20).
    private static let graceMax: Int64 = 28 * 86_400_000

    private struct Signal {
        let asOf: Instant
        /// The expiry that it names; nil for any.
        var expiresDate: Instant?
        let offset: Int64
    }

    // By the expiry they are about.
    private var graces: [Instant: [Signal]] = [:]
    // By as-of.
    private let endings: [Signal]

    /// Nil if no grace was announced: the common case, at no cost.
    init?(_ timeline: Timeline, _ statuses: SignedStatuses, expiries: [Instant]) {
        guard timeline.announcesGrace else { return nil }
        var endings: [Signal] = []
        for keyed in timeline.announcements {
            let signal = Signal(asOf: keyed.assertion.asOf, offset: keyed.assertion.offset)
            switch keyed.assertion.signedStatus {
            case .gracePeriod:
                guard let expiry = timeline.expiry(ofGraceIn: keyed, expiries) else { continue }
                graces[expiry, default: []].append(signal)
            case .expired, .billingRetry, .revoked: endings.append(signal)
            case .active, nil: break
            }
        }
        for statement in timeline.renewalStatements {
            let isOff = statement.isAutoRenewOn == false
            guard isOff || statement.isInBillingRetry == false,
                let offset = isOff ? statement.autoRenewOffset : statement.retryOffset,
                statuses.status(at: statement.asOf) != .gracePeriod
            else { continue }
            endings.append(
                Signal(asOf: statement.asOf, expiresDate: statement.renewalDate, offset: offset)
            )
        }
        self.endings = endings.sorted { ($0.asOf, $0.offset) < ($1.asOf, $1.offset) }
    }

    /// Whether a grace after that expiry was announced.
    func isAnnounced(after expiresDate: Instant) -> Bool { graces[expiresDate] != nil }

    /// The end of the grace after an expiry, limited to statements before an instant if one is
    /// given, and whether it is the longest that Apple offers, rather than the as-of of a statement;
    /// nil if none was announced.
    func end(
        of expiresDate: Instant,
        before instant: Instant?,
        citing citations: inout Citations
    ) -> (end: Instant, isDated: Bool)? {
        func isKnown(_ signal: Signal) -> Bool { instant.map { signal.asOf < $0 } ?? true }
        let known = (graces[expiresDate] ?? []).filter(isKnown)
        guard let last = known.map(\.asOf).max() else { return nil }
        for signal in known where signal.asOf == last { citations.cite(signal.offset) }
        let longest = Instant(milliseconds: expiresDate.milliseconds + UndatedGraces.graceMax)
        let ending = endings.first { signal in
            signal.asOf > last && isKnown(signal)
                && signal.expiresDate.map { $0 == expiresDate } ?? true
        }
        guard let ending, ending.asOf < longest else { return (longest, true) }
        citations.cite(ending.offset)
        return (ending.asOf, false)
    }
}

extension Timeline {
    /// Whether Apple ever announced a grace period, with or without its end.
    var announcesGrace: Bool {
        announcements.contains { $0.assertion.signedStatus == .gracePeriod }
    }

    // A failed renewal names its purchase; any other status is about the newest expiry by then.
    fileprivate func expiry(ofGraceIn keyed: KeyedAssertion, _ expiries: [Instant]) -> Instant? {
        if keyed.assertion.content.carries(.notificationType, "DID_FAIL_TO_RENEW"),
            let index = purchase(startingAt: keyed.purchaseDate, expiring: keyed.expiresDate)
        {
            return purchases[index].expiresDate
        }
        return expiries.last { $0 <= keyed.assertion.asOf }
    }
}
