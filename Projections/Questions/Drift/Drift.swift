package import Events

/// Compares the fold with Apple: every status in a version 2 notification and every signed renewal
/// info states the status of the subscription when it was signed (Apple's data: status values,
/// renewal info).
///
/// A drift means that the fold has a bug, that a purchase never reached the ledger, or that Apple's
/// status contradicts the dates that it signed (Decisions: a status that Apple signs).
package enum Drift {
    /// Compares all of Apple's statements in a history with the fold of those signed no later, or
    /// in the same payload.
    ///
    /// One fold for each instant of a statement by Apple: quadratic in the events of one
    /// subscription, which are few. `recentSubscriptionStartDate` is not compared: it bridges gaps
    /// (Apple's data: trap 46). A mere repetition of an earlier statement is not compared either,
    /// because it is not an event.
    package static func check(_ history: StreamHistory) -> DriftReport {
        var report = DriftReport()
        var past: Past?
        let statements = history.events.filter(isStatement).sorted {
            ($0.fact.asOf, $0.position) < ($1.fact.asOf, $1.position)
        }
        for event in statements {
            if past?.holds(for: event) != true { past = Past(history, until: event) }
            guard let past else { continue }
            guard let found = past.disagreements(with: event) else { continue }
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
                    originalTransactionId: event.fact.stream.originalTransactionId,
                    environment: event.fact.stream.environment,
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
        // A grace without a date is known from Apple's status alone: renewal info cannot deny it.
        let isUndated = timeline.graces?.isUndated(after: newest.expiresDate) ?? false
        if isUndated, isInRetry, status == .gracePeriod { return found }
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
        guard let date = content.instant(.gracePeriodExpiresDate) else {
            return SignedStatuses(timeline).status(at: asOf) == .gracePeriod
        }
        guard asOf < date else { return false }
        return content.integer(.autoRenewStatus) != 0
            || SignedStatuses(timeline).status(at: asOf) == .gracePeriod
    }
}

extension Timeline {
    /// The newest purchase, begun or charged, that was not replaced; nil if there is none.
    var newestCharge: Purchase? {
        let left = purchases.indices.filter { index in
            !purchases[index].isUpgraded && succession.tookEffect(index)
        }
        // An assigned seat is not charged.
        let bought = left.last { succession.course(of: $0) == 0 }
        return (bought ?? left.last).map { purchases[$0] } ?? purchases.last
    }
}
