internal import Events

/// Finds what Apple said about why purchases were not renewed.
struct Expirations {
    /// Whose purchases are asked about.
    let timeline: Timeline
    /// Statements that say why, or that Apple retries; nearly always few or none.
    let sayings: [RenewalStatement]

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
    /// That billing failed, by a statement that says no more than that.
    init(billingBy statement: RenewalStatement) {
        reason = .billing
        offset = statement.retryOffset
    }
}

extension RenewalStatement {
    /// Whether it is about that expiry; an intent that names none is about one that had come.
    func isAbout(_ expiresDate: Instant) -> Bool {
        renewalDate.map { $0 == expiresDate } ?? (asOf >= expiresDate)
    }
}
