internal import Events

/// Finds what Apple said about why purchases were not renewed.
struct Expirations {
    /// Whose purchases are asked about.
    let timeline: Timeline
    /// Statements that say why, or that Apple retries; nearly always few or none.
    let statements: [RenewalStatement]

    /// What Apple said, and which event says it.
    struct StatedReason {
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
        statements = timeline.renewalStatements.filter {
            $0.statesExpirationIntent || $0.isInBillingRetry == true
        }
    }

    /// Whether Apple said nothing of any end.
    var isEmpty: Bool { statements.isEmpty }

    /// Why the purchase with that index ended, for a time without access: the last intent said by
    /// its start, else the first one after it; never one about another expiry.
    ///
    /// `end` is the end of that time, nil until further notice.
    func statedReason(ending index: Int, from start: Instant, to end: Instant?) -> StatedReason? {
        let expiresDate = timeline.purchases[index].expiresDate
        var last: RenewalStatement?
        for statement in statements where statement.statesExpirationIntent {
            if let end, statement.asOf >= end { break }
            guard statement.isAbout(expiresDate) else { continue }
            if statement.asOf > start { return StatedReason(last ?? statement) }
            last = statement
        }
        return StatedReason(last)
    }

    /// Why the access of a purchase ended at an instant after which nothing carried it on: what was
    /// said last by then, else first after it, for a customer who cancels in billing retry had lost
    /// the access before.
    ///
    /// `next` is the start of the next access, nil where none came.
    func statedReason(
        endingAccessOf index: Int,
        at end: Instant,
        before next: Instant?
    ) -> StatedReason? {
        let expiresDate = timeline.purchases[index].expiresDate
        var last: StatedReason?
        for statement in statements where statement.isAbout(expiresDate) {
            if let next, statement.asOf >= next { break }
            // A retry of which no intent was said follows on a charge that failed.
            let own = statement.statesExpirationIntent ? StatedReason(statement) : nil
            let stated = own ?? StatedReason(billingBy: statement)
            if statement.asOf > end { return last ?? stated }
            last = stated
        }
        return last
    }
}

extension Expirations.StatedReason {
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
