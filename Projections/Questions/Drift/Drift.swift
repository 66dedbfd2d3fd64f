public import Events

/// Compares the fold with Apple: every status in a version 2 notification and every signed renewal
/// info states the status of the subscription when it was signed (Apple's data: status values,
/// renewal info).
///
/// A drift is a bug of the fold, or means that a purchase never reached the ledger, or that Apple
/// moved the date of a revocation past the instant at which it had signed that status: the last
/// signed date determines access.
public enum Drift {
    /// Compares all of Apple's statements in a history with the fold of those signed no later, or
    /// in the same payload.
    ///
    /// One fold for each instant of a statement by Apple: quadratic in the events of one
    /// subscription, which are few. `recentSubscriptionStartDate` is not compared: it bridges gaps
    /// (Apple's data: trap 46). A mere repetition of an earlier statement is not compared either,
    /// because it is not an event.
    public static func check(_ history: StreamHistory) -> DriftReport {
        var report = DriftReport()
        var past: Past?
        let now = Timeline(history)
        let statements = history.events.filter(isStatement).sorted {
            ($0.fact.asOf, $0.position) < ($1.fact.asOf, $1.position)
        }
        for event in statements {
            if past?.holds(for: event) != true { past = Past(history, until: event) }
            guard let past else { continue }
            guard var found = past.disagreements(with: event) else { continue }
            if found.isEmpty, let moved = now.movedRevocation(from: event) { found.append(moved) }
            report.checked += 1
            report.agreeing += found.isEmpty ? 1 : 0
            report.disagreements += found
        }
        report.disagreements.sort { $0.position < $1.position }
        return report
    }

    /// Apple's last statement about a subscription; nil if there is none.
    static func newestStatement(in history: StreamHistory) -> Event? {
        history.events.filter(isStatement).max {
            ($0.fact.asOf, $0.position) < ($1.fact.asOf, $1.position)
        }
    }

    private static func isStatement(_ event: Event) -> Bool {
        switch event.fact.content.format {
        case .signedNotification: event.fact.content[.status] != nil
        case .signedRenewalInfo: true
        default: false
        }
    }
}

/// What could be known when Apple made a statement.
private struct Past {
    private let timeline: Timeline
    private let states: RenewalStates
    private let asOf: Instant
    // Nil if nothing in the statement's payload was signed after it.
    private let evidence: Int64?

    init(_ history: StreamHistory, until statement: Event) {
        asOf = statement.fact.asOf
        let later = history.events.filter {
            $0.fact.asOf > statement.fact.asOf && $0.evidence == statement.evidence
        }
        evidence = later.isEmpty ? nil : statement.evidence
        var past = history
        past.events = history.events.filter { event in
            event.fact.asOf <= statement.fact.asOf || event.evidence == statement.evidence
        }
        past.confirmations = history.confirmations.filter { $0.asOf <= statement.fact.asOf }
        timeline = Timeline(past)
        states = RenewalStates(timeline)
    }

    /// Whether exactly the same was known when that statement was made.
    ///
    /// Statements of one instant share their past, unless a part of one's payload was signed later.
    func holds(for statement: Event) -> Bool {
        statement.fact.asOf == asOf && evidence == nil
    }

    /// What disagrees with a statement; nil if no purchase was known to compare it with.
    func disagreements(with event: Event) -> [DriftReport.Disagreement]? {
        guard let newest = timeline.newestCharge else { return nil }
        let content = event.fact.content
        let status = states.state(at: asOf)?.status
        var found: [DriftReport.Disagreement] = []
        func compare(_ subject: DriftReport.Subject, _ apple: String, _ ours: String?) {
            guard byBytes(apple, ours ?? "") != nil else { return }
            found.append(
                DriftReport.Disagreement(
                    position: event.position,
                    stream: event.fact.stream,
                    asOf: asOf,
                    subject: subject,
                    apple: apple,
                    ours: ours ?? ""
                )
            )
        }
        if event.fact.kind == .notification {
            guard let raw = content.integer(.status) else { return [] }
            // An unknown status is compared as a number, and never agrees with any of ours.
            let apple = SubscriptionStatus(rawValue: raw).map { "\($0)" } ?? "\(raw)"
            compare(.status, apple, status.map { "\($0)" })
            return found
        }
        if let date = content.instant(.renewalDate) {
            compare(.renewalDate, "\(date.flooredToSecond)", "\(newest.expiresDate)")
        }
        if let product = content.text(.productId) {
            compare(.productId, product, newest.productId)
        }
        guard asOf >= newest.expiresDate else { return found }
        let isInRetry = content.boolean(.isInBillingRetryPeriod) == true
        let isGrace = promisesGrace(content)
        if !isGrace {
            compare(.isInBillingRetryPeriod, "\(isInRetry)", "\(status == .billingRetry)")
        }
        compare(.gracePeriodExpiresDate, "\(isGrace)", "\(status == .gracePeriod)")
        return found
    }

    // Cancelling ends a grace at once, although its date may still be stated, unless Apple's status
    // says otherwise (Apple's data: trap 22).
    private func promisesGrace(_ content: Content) -> Bool {
        guard let date = content.instant(.gracePeriodExpiresDate), asOf < date else { return false }
        return content.integer(.autoRenewStatus) != 0
            || SignedStatuses(timeline).status(at: asOf) == .gracePeriod
    }
}

extension Timeline {
    /// The disagreement with a signed status 5 after the revocation got a later date; nil if it did
    /// not, or if the subscription counts as revoked at that time all the same.
    fileprivate func movedRevocation(from event: Event) -> DriftReport.Disagreement? {
        let (fact, asOf) = (event.fact, event.fact.asOf)
        guard fact.kind == .notification,
            fact.content.integer(.status) == SubscriptionStatus.revoked.rawValue,
            purchases.contains(where: { $0.purchaseDate <= asOf && $0.isRevoked(after: asOf) }),
            let status = RenewalStates(self).state(at: asOf)?.status, status != .revoked
        else { return nil }
        return DriftReport.Disagreement(
            position: event.position,
            stream: fact.stream,
            asOf: asOf,
            subject: .status,
            apple: "\(SubscriptionStatus.revoked)",
            ours: "\(status)"
        )
    }

    /// The newest purchase, begun or charged, that was not replaced; nil if there is none.
    var newestCharge: Purchase? {
        purchases.last { !$0.isUpgraded } ?? purchases.last
    }
}

extension Purchase {
    // Whether the date of its revocation is after an instant by which another one was signed.
    fileprivate func isRevoked(after instant: Instant) -> Bool {
        guard let revocationDate, revocationDate > instant, !isDenied(after: instant) else {
            return false
        }
        return assertions.sorted.contains { assertion in
            assertion.fields.contains(.revocationDate) && assertion.asOf <= instant
                && assertion.content.instant(.revocationDate).map { $0 <= instant } ?? false
        }
    }

    // Whether a later statement had no revocation: the current one is then a different one.
    private func isDenied(after instant: Instant) -> Bool {
        revocationEvents.contains { event in
            if case .denial = event.word { event.asOf > instant } else { false }
        }
    }
}
