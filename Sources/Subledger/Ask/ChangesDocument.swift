public import EventLog
public import Events
public import Projections

/// Which product or billing plan a subscription changed to, or was going to change to.
public struct ChangesDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// Its changes, including those that were requested and withdrawn.
    public let changes: [PlanChange]
    /// Its changes for which Apple opened a new subscription: from one of the customer's that had
    /// lapsed, or between one that is sold alone and one in a bundle, to or from this one.
    public let moves: [StreamChange]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?
}

extension Ledger {
    /// Which product or billing plan a subscription changed to, or was going to change to.
    ///
    /// The catalog, as it was known, decides what counts as an upgrade.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only changes that were pending at the instant, the last change in effect by
    ///     then, and moves by then; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`, `CatalogError`.
    public func changes(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> ChangesDocument {
        let known = try await subscription(subject, knownAt: knownAt)
        let catalogs = try await catalogs(knownAt: knownAt)
        let id = known.stream.originalTransactionId
        let moves = PlanChanges.acrossStreams(known.everTimelines, catalogs)
        return ChangesDocument(
            originalTransactionId: id,
            environment: known.stream.environment,
            isKnown: !known.history.events.isEmpty,
            changes: PlanChanges(known.timeline, catalogs).rows.asked(at: instant),
            moves: moves.filter { move in
                [move.fromOriginalTransactionId, move.toOriginalTransactionId].contains(id)
                    && instant.map { move.effective <= $0 } ?? true
            },
            erasures: known.erasures,
            otherSubscriptions: known.others
        )
    }
}

extension [PlanChange] {
    fileprivate func asked(at instant: Instant?) -> [PlanChange] {
        guard let instant else { return self }
        let latest = compactMap(\.effective).filter { $0 <= instant }.max()
        return filter { row in
            let isOpen = row.requested.map { $0 <= instant } ?? false
            let end = row.effective ?? row.withdrawn
            return (isOpen && end.map { instant < $0 } ?? true)
                || (row.effective != nil && row.effective == latest)
        }
    }
}
