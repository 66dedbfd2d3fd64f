public import EventLog
public import Events
public import Projections

/// When a subscription gave access, and why it stopped.
public struct PeriodsDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// Its periods by start, including those without access.
    public let periods: [ActivePeriod]
    /// The times with access, merged.
    public let active: [IntervalValue]
    /// The one-time purchase, if the id names one; nil for a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// Links that give the subscription to the requested customer only later.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?
}

extension Ledger {
    /// When a subscription gave access, and why it stopped; folded directly from the log.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the periods that contain it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` if the id means no subscription, or several; `EventLogError`.
    public func periods(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> PeriodsDocument {
        try await log.onOneConnection {
            let known = try await subscription(subject, knownAt: knownAt)
            let periods = ActivePeriods(known.timeline)
            let changes = PlanChanges(known.timeline, try await catalogs(knownAt: knownAt)).rows
            return PeriodsDocument(
                originalTransactionId: known.stream.originalTransactionId,
                environment: known.stream.environment,
                isKnown: !known.history.events.isEmpty,
                periods: periods.rows.filter { row in
                    instant.map { row.validFrom <= $0 && $0 < row.validTo } ?? true
                }.map { $0.classified(by: changes) },
                active: periods.active.filter { interval in instant.map(interval.contains) ?? true }
                    .map(IntervalValue.init),
                oneTimePurchase: OneTimePurchaseDocument(insteadOf: known),
                linksNotInForce: try await linksNotInForce(
                    to: subject,
                    of: known.stream,
                    at: instant ?? periods.rows.first?.validFrom,
                    knownAt: knownAt
                ),
                erasures: known.erasures,
                otherSubscriptions: known.others
            )
        }
    }
}

extension ActivePeriod {
    // With the class of the change that ended it, if it ended as `upgraded`.
    fileprivate func classified(by changes: [PlanChange]) -> ActivePeriod {
        guard endReason == .upgraded else { return self }
        var row = self
        row.planChange =
            changes.first { change in
                change.effective == validTo
                    && change.fromProductId.utf8.elementsEqual(productId.utf8)
            }?.changeClass
        return row
    }
}
