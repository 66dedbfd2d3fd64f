public import EventLog
public import Events
internal import Projections

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
    public let changes: [Change]
    /// Its changes for which Apple opened a new subscription: from one of the customer's that had
    /// lapsed, or between one that is sold alone and one in a bundle, to or from this one.
    public let moves: [Move]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// A change from one subscription to another.
    public struct Move: Codable, Hashable, Sendable {
        /// The old subscription.
        public let fromOriginalTransactionId: String
        /// The new subscription.
        public let toOriginalTransactionId: String
        /// The last product of the old one.
        public let fromProductId: String
        /// The first product of the new one.
        public let toProductId: String
        /// The bundle that the old one was part of; nil if it was sold alone.
        public let fromBundleProductId: String?
        /// The bundle that the new one is part of; nil if it is sold alone.
        public let toBundleProductId: String?
        /// The status of the old one just before.
        public let previousStatus: String
        /// `upgrade`, `downgrade` or `crossgrade` by the catalog; `plan_change` without one.
        public let `class`: String
        /// When the new one began.
        public let effective: Instant
        /// Whether the periods of both products have the same length; nil without a catalog.
        public let sameDuration: Bool?
        /// The version of the catalog that classifies it.
        public let catalogVersion: Int?
        /// The events it is based on, of both subscriptions.
        public let positions: [Position]
    }

    /// A change that took effect, or was requested.
    public struct Change: Codable, Hashable, Sendable {
        /// The product before.
        public let fromProductId: String
        /// The product after.
        public let toProductId: String
        /// Apple's `billingPlanType` before.
        public let fromBillingPlanType: String?
        /// Apple's `billingPlanType` after.
        public let toBillingPlanType: String?
        /// The number of seats before; nil unless both numbers are known.
        public let fromSeatQuantity: Int64?
        /// The number of seats after, or requested.
        public let toSeatQuantity: Int64?
        /// `requested`, `effective`, `withdrawn`; `lapsed` if the subscription continued without
        /// it.
        public let state: String
        /// `now`, `next_renewal`, or `resubscribe` with a new start after a lapse.
        public let timing: String
        /// `upgrade`, `downgrade` or `crossgrade` by the catalog; `plan_change` without one.
        public let `class`: String
        /// When it was requested.
        public let requested: Instant?
        /// When it took effect.
        public let effective: Instant?
        /// When it was withdrawn.
        public let withdrawn: Instant?
        /// Whether the periods of both products have the same length; nil without a catalog.
        public let sameDuration: Bool?
        /// The version of the catalog that classifies it.
        public let catalogVersion: Int?
        /// Apple's `offerType` of the purchase that made it.
        public let offerType: Int64?
        /// Whether Apple refunds the unused part of the previous period.
        public let refundsPrevious: Bool
        /// Whether nothing dates the request, so its instants are lower bounds.
        public let isUndated: Bool
        /// The probable refund, in milliunits: an estimate, because Apple does not sign an amount.
        public let estimatedRefundMilliunits: Int64?
        /// The currency of the estimate.
        public let estimatedRefundCurrency: String?
        /// The events it is based on.
        public let positions: [Position]
    }
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
        let known = try await known(subject, knownAt: knownAt)
        let catalogs = try await catalogs(knownAt: knownAt)
        let moves = PlanChanges.acrossStreams(known.notes.customerTimelines, catalogs).filter {
            [$0.from, $0.to].contains(known.stream) && instant.map($0.isInEffect) ?? true
        }
        return ChangesDocument(
            known,
            PlanChanges(known.timeline, catalogs).rows.asked(at: instant),
            moves
        )
    }
}

extension StreamChange {
    fileprivate func isInEffect(at instant: Instant) -> Bool { effective <= instant }
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

extension ChangesDocument {
    fileprivate init(
        _ known: KnownSubscription,
        _ rows: [PlanChange],
        _ moves: [StreamChange]
    ) {
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        isKnown = !known.history.events.isEmpty
        changes = rows.map { row in
            Change(
                fromProductId: row.fromProductId,
                toProductId: row.toProductId,
                fromBillingPlanType: row.fromBillingPlanType,
                toBillingPlanType: row.toBillingPlanType,
                fromSeatQuantity: row.fromSeatQuantity,
                toSeatQuantity: row.toSeatQuantity,
                state: row.state.rawValue,
                timing: row.timing.rawValue,
                class: row.changeClass.rawValue,
                requested: row.requested,
                effective: row.effective,
                withdrawn: row.withdrawn,
                sameDuration: row.hasSameDuration,
                catalogVersion: row.catalogVersion,
                offerType: row.offerType,
                refundsPrevious: row.refundsPrevious,
                isUndated: row.isUndated,
                estimatedRefundMilliunits: row.estimatedRefundMilliunits,
                estimatedRefundCurrency: row.estimatedRefundCurrency,
                positions: row.positions
            )
        }
        self.moves = moves.map { Move($0) }
        erasures = known.notes.erasures
        otherSubscriptions = known.notes.others
    }
}

extension ChangesDocument.Move {
    fileprivate init(_ change: StreamChange) {
        fromOriginalTransactionId = change.from.originalTransactionId
        toOriginalTransactionId = change.to.originalTransactionId
        fromProductId = change.fromProductId
        toProductId = change.toProductId
        fromBundleProductId = change.fromBundleProductId
        toBundleProductId = change.toBundleProductId
        previousStatus = change.previousStatus.description
        `class` = change.changeClass.rawValue
        effective = change.effective
        sameDuration = change.hasSameDuration
        catalogVersion = change.catalogVersion
        positions = change.positions
    }
}
