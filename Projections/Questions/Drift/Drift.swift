public import Events

/// Holds the fold against Apple: every status in a version 2 notification and every signed renewal
/// info says where the subscription stood when it was signed
/// (Apple's data: status values, renewal info).
///
/// A drift is a bug of the fold, or tells that a purchase never reached the ledger, or that Apple
/// moved the date of a revocation behind the instant at which it had signed that status: the date
/// signed last stands for the access.
public enum Drift {
    /// Compares all of Apple's statements in a history with what is folded from those signed no
    /// later, or in the same payload.
    ///
    /// One fold for each instant at which Apple said something: quadratic in the events of one
    /// subscription, which are few. `recentSubscriptionStartDate` is not compared: it bridges gaps
    /// (Apple's data: trap 46). Nor is what only repeats an earlier statement, which is no event.
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

    /// What Apple stated last about a subscription; nil where it stated nothing.
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
    // Nil where nothing of the statement's payload was signed after it.
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

    /// Whether nothing else was known when that statement was made.
    ///
    /// Those of one instant share their past, unless a part of one's payload was signed later.
    func holds(for statement: Event) -> Bool {
        statement.fact.asOf == asOf && evidence == nil
    }

    /// What does not agree with a statement; nil where no purchase was known that it could be
    /// held against.
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
            // A status of tomorrow is compared as it is, and does not agree with any of ours.
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

    // Cancelling ends a grace at once, though its date may still be told, unless Apple's status
    // says otherwise (Apple's data: trap 22).
    private func promisesGrace(_ content: Content) -> Bool {
        guard let date = content.instant(.gracePeriodExpiresDate), asOf < date else { return false }
        return content.integer(.autoRenewStatus) != 0
            || SignedStatuses(timeline).status(at: asOf) == .gracePeriod
    }
}

extension Timeline {
    /// What a signed status 5 disagrees with since the revocation has a later date; nil where it
    /// has not, or where the subscription counts as revoked then all the same.
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

    /// The newest purchase that none has replaced, begun or charged; nil where there is none.
    var newestCharge: Purchase? {
        purchases.last { !$0.isUpgraded } ?? purchases.last
    }
}

extension Purchase {
    // Whether the date of its revocation lies after an instant by which another one was signed.
    fileprivate func isRevoked(after instant: Instant) -> Bool {
        guard let revocationDate, revocationDate > instant, !isDenied(after: instant) else {
            return false
        }
        return assertions.sorted.contains { assertion in
            assertion.fields.contains(.revocationDate) && assertion.asOf <= instant
                && assertion.content.instant(.revocationDate).map { $0 <= instant } ?? false
        }
    }

    // Whether a later statement had no revocation: the one that stands is then another one.
    private func isDenied(after instant: Instant) -> Bool {
        revocationEvents.contains { event in
            if case .denial = event.word { event.asOf > instant } else { false }
        }
    }
}
