internal import Events

/// Finds Apple's statements about why purchases were not renewed.
struct Expirations {
    /// The timeline with the purchases.
    let timeline: Timeline
    /// Statements with a reason, or with a retry; nearly always few or none.
    let statements: [RenewalStatement]

    /// A statement of Apple's, and its event.
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

    /// Whether Apple stated nothing about any end.
    var isEmpty: Bool { statements.isEmpty }

    /// Why the purchase with that index ended, for an interval without access: the last intent
    /// stated by its start, otherwise the first one after it; never one about another expiry.
    ///
    /// `end` is the end of that interval, nil until further notice.
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

    /// Why the access of a purchase ended at an instant after which nothing continued it: the last
    /// statement by then, otherwise the first after it, because a customer who cancels in billing
    /// retry had lost the access before.
    ///
    /// `next` is the start of the next access, nil if there was none.
    func statedReason(
        endingAccessOf index: Int,
        at end: Instant,
        before next: Instant?
    ) -> StatedReason? {
        let expiresDate = timeline.purchases[index].expiresDate
        var last: StatedReason?
        for statement in statements where statement.isAbout(expiresDate) {
            if let next, statement.asOf >= next { break }
            // A retry without a stated intent follows a failed charge.
            let own = statement.statesExpirationIntent ? StatedReason(statement) : nil
            let stated = own ?? StatedReason(billingBy: statement)
            if statement.asOf > end { return last ?? stated }
            last = stated
        }
        return last
    }
}

extension Expirations.StatedReason {
    /// The reason that billing failed, from a statement with no further detail.
    init(billingBy statement: RenewalStatement) {
        reason = .billing
        offset = statement.retryOffset
    }
}

extension RenewalStatement {
    /// Whether it is about that expiry; an intent that names none is about one that had passed.
    func isAbout(_ expiresDate: Instant) -> Bool {
        renewalDate.map { $0 == expiresDate } ?? (asOf >= expiresDate)
    }
}
