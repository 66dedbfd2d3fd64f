internal import Events

/// Finds what Apple said about why purchases were not renewed.
struct Expirations {
    private let timeline: Timeline
    // Nearly always few or none.
    private let sayings: [RenewalStatement]

    /// What Apple said, and which event says it.
    struct Saying {
        let reason: ExpirationReason
        let offset: Int64?

        fileprivate init?(_ statement: RenewalStatement?) {
            guard let statement, let intent = statement.expirationIntent else { return nil }
            reason = ExpirationReason(intent: intent)
            offset = statement.intentOffset
        }
    }

    init(_ timeline: Timeline) {
        self.timeline = timeline
        sayings = timeline.renewalStatements.filter {
            $0.isExpirationIntentSaid || $0.isInBillingRetry == true
        }
    }

    /// Whether Apple said nothing of any end.
    var isEmpty: Bool { sayings.isEmpty }

    /// Why the purchase with that index ended, for a time without access: the last intent said by
    /// its start, else the first one after it; never one about another expiry.
    ///
    /// `end` is the end of that time, nil until further notice.
    func saying(ending index: Int, from start: Instant, to end: Instant?) -> Saying? {
        let expiresDate = timeline.purchases[index].expiresDate
        var last: RenewalStatement?
        for statement in sayings where statement.isExpirationIntentSaid {
            if let end, statement.asOf >= end { break }
            guard statement.isAbout(expiresDate) else { continue }
            if statement.asOf > start { return Saying(last ?? statement) }
            last = statement
        }
        return Saying(last)
    }

    /// The same for the purchase that was the newest before a span without access; of one that
    /// expired out of a retry of which no intent was said, that billing failed.
    func saying(of span: StatusSpan) -> Saying? {
        guard !sayings.isEmpty, span.status == .expired || span.status == .billingRetry else {
            return nil
        }
        let earlier = Instant(milliseconds: span.from.milliseconds - 1)
        let begun = timeline.purchases.count(begunBy: earlier)
        guard !timeline.purchases.isEmpty else { return nil }
        let index = max(0, begun - 1)
        if let said = saying(ending: index, from: span.from, to: span.to) { return said }
        guard span.status == .expired else { return nil }
        let expiresDate = timeline.purchases[index].expiresDate
        let last = timeline.renewalStatements.last {
            $0.asOf <= span.from && $0.isAbout(expiresDate)
        }
        guard let last, last.isInBillingRetry == true, last.isAutoRenewOn != false else {
            return nil
        }
        return Saying(billingBy: last)
    }

    /// Why the access of a purchase ended at an instant after which nothing carried it on: what was
    /// said last by then, else first after it, for a customer who cancels in billing retry had lost
    /// the access before.
    ///
    /// `next` is the start of the next access, nil where none came.
    func saying(endingAccessOf index: Int, at end: Instant, before next: Instant?) -> Saying? {
        let expiresDate = timeline.purchases[index].expiresDate
        var last: Saying?
        for statement in sayings where statement.isAbout(expiresDate) {
            if let next, statement.asOf >= next { break }
            // A retry of which no intent was said follows on a charge that failed.
            let own = statement.isExpirationIntentSaid ? Saying(statement) : nil
            let saying = own ?? Saying(billingBy: statement)
            if statement.asOf > end { return last ?? saying }
            last = saying
        }
        return last
    }
}

extension Expirations.Saying {
    fileprivate init(billingBy statement: RenewalStatement) {
        reason = .billing
        offset = statement.retryOffset
    }
}

extension RenewalStatement {
    // An intent that names no expiry is about one that had come.
    fileprivate func isAbout(_ expiresDate: Instant) -> Bool {
        renewalDate.map { $0 == expiresDate } ?? (asOf >= expiresDate)
    }
}
