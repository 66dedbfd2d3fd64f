public import EventLog
public import Events
public import Projections

/// Which product, billing plan or seats a subscription changed to.
package enum ChangesQuestion: Question {
    package static let name = "changes"
    package static let abstract =
        "Changes of product, billing plan or seats: requested, withdrawn and in effect."
    package static let discussion = """
        Computed from the log, not read from a table. The catalog (`subledger catalog`) \
        decides which change is an upgrade; without one, every change is a plan_change. \
        Changes for which Apple opened a new subscription are listed below the others: a new \
        start after a lapse, and a move into or out of a bundle.
        """
    package static let meaningOfAt =
        "Only requests that were open at this instant, the change in effect by then, and moves by "
        + "then."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> ChangesDocument {
        try await ledger.changes(
            of: asked.subject,
            at: asked.at,
            knownAt: asked.knownAt
        )
    }

    package static func text(_ answer: ChangesDocument, _ asked: QuestionInput) -> [Block] {
        guard answer.isKnown else { return [.line(answer.title), .line(NothingKnown.words)] }
        let moves = answer.moves.map { Block.line($0.text) }
        guard !answer.changes.isEmpty else {
            let none = "no change of product, billing plan or seats was requested or made"
            return [.line(answer.title)] + (moves.isEmpty ? [.line(none)] : moves)
        }
        let header = [
            "from", "to", "change", "timing", "state", "requested", "effective", "withdrawn",
            "because of",
        ]
        return [.line(answer.title), .table(header, answer.changes.map(\.cells))]
            + answer.changes.compactMap { $0.refund(among: answer.refunds) }.map { .line($0) }
            + moves
    }
}

/// Which product or billing plan a subscription changed to, or was going to change to.
public struct ChangesDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// Its changes, including those that were requested and withdrawn.
    public let changes: [PlanChange]
    /// Its changes for which Apple opened a new subscription: from one of the customer's that had
    /// lapsed, or between one that is sold alone and one in a bundle, to or from this one.
    public let moves: [PlanChanges.StreamChange]
    /// The refunds that Apple stated of periods that a change cut short.
    public let refunds: [RefundCase]
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
        let refunds = Refunds(known.timeline)
        let cases = instant.map { refunds.rows(asOf: $0) } ?? refunds.rows
        let changes = PlanChanges(known.timeline, catalogs).rows.asked(at: instant)
            .bounded(by: cases, of: TransactionRows(known.timeline, .none).rows)
        return ChangesDocument(
            originalTransactionId: id,
            environment: known.stream.environment,
            isKnown: !known.history.events.isEmpty,
            changes: changes,
            moves: moves.filter { move in
                [move.fromOriginalTransactionId, move.toOriginalTransactionId].contains(id)
                    && instant.map { move.effective <= $0 } ?? true
            },
            refunds: cases.filter { refund in
                changes.contains { $0.isRefunded(by: refund) }
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

extension [PlanChange] {
    /// The changes, each with an estimate that is at most what the refunds that Apple signed leave of
    /// the price, and none if they leave nothing: the same as in reports.
    ///
    /// - Parameters:
    ///   - cases: The refunds of the subscription.
    ///   - rows: Its purchases.
    /// - Returns: The changes.
    func bounded(by cases: [RefundCase], of rows: [TransactionRow]) -> [PlanChange] {
        map { change in
            guard let estimate = change.estimatedRefundMilliunits, let effective = change.effective
            else { return change }
            // With the seats that were added to it.
            let period = rows.filter { row in
                row.product.productId.utf8.elementsEqual(change.fromProductId.utf8)
                    && row.time.start <= effective && row.time.end.map { effective < $0 } ?? false
            }
            guard !period.isEmpty else { return change }
            var left: Int64 = 0
            for row in period where left < estimate {
                var kept = row.money.grossMilliunits ?? 0
                for refund in cases where refund.isNet && refund.isAbout(row) {
                    kept -= Swift.min(kept, refund.refundedMilliunits ?? 0)
                }
                left += Swift.min(kept, estimate - left)
            }
            var bounded = change
            bounded.estimatedRefundMilliunits = left > 0 || estimate == 0 ? left : nil
            return bounded
        }
    }
}

extension PlanChange {
    fileprivate var cells: [String] {
        // Of an undated request only the earliest instants are known.
        let bound = isUndated ? "≥ " : ""
        return [
            PlanChange.plan(fromProductId, fromBillingPlanType, fromSeatQuantity),
            PlanChange.plan(toProductId, toBillingPlanType, toSeatQuantity),
            changeClass.rawValue, timing.rawValue, state.rawValue,
            requested.map { bound + $0.clock } ?? "–", effective?.clock ?? "–",
            withdrawn.map { bound + $0.clock } ?? "–", positions.marks,
        ]
    }

    // The product, its billing plan and number of seats if Apple stated them.
    private static func plan(
        _ productId: String,
        _ billingPlanType: String?,
        _ seats: Int64?
    ) -> String {
        productId + (billingPlanType.map { " · \($0)" } ?? "")
            + (seats.map { " · " + counted($0, "seat") } ?? "")
    }

    /// Whether a refund is of the period that it cut short.
    fileprivate func isRefunded(by refund: RefundCase) -> Bool {
        guard refundsPrevious, let effective, refund.state == .refunded else { return false }
        return refund.productId.utf8.elementsEqual(fromProductId.utf8)
            && refund.purchaseDate <= effective
            && refund.expiresDate.map { effective < $0 } ?? false
    }

    /// What Apple gives back for the rest of the period that it cut short; nil if it cut none.
    fileprivate func refund(among refunds: [RefundCase]) -> String? {
        guard refundsPrevious, let effective else { return nil }
        // A bare revocation at the change is the same refund without its amount.
        if let signed = refunds.last(where: { isRefunded(by: $0) }),
            signed.kind != .replaced || signed.percentageMilli != nil
        {
            let amount = signed.amountWords.map { "\($0) of " } ?? ""
            return "\(effective.clock)  Apple refunded \(amount)\(fromProductId)"
                + (signed.refunded.map { " on \($0.clock)" } ?? "")
                + (amount.isEmpty ? "; the amount is not known" : "")
        }
        return "\(effective.clock)  "
            + unusedPartWords(fromProductId, estimatedRefundMilliunits, estimatedRefundCurrency)
    }
}

/// What Apple probably gives back for the rest of a period that an upgrade replaced.
///
/// - Parameters:
///   - productId: The product that was replaced.
///   - milliunits: The estimate; nil if there is none.
///   - currency: Its currency.
/// - Returns: The sentence, without its end.
func unusedPartWords(_ productId: String, _ milliunits: Int64?, _ currency: String?) -> String {
    "Apple refunds the unused part of \(productId)"
        + (milliunits.map { ", about " + Amount.text($0, currency) } ?? "")
        + "; Apple signs no amount"
}

extension PlanChanges.StreamChange {
    /// The move as a line.
    fileprivate var text: String {
        func part(_ id: String, _ productId: String, _ bundle: String?) -> String {
            "\(id) (\(productId)" + (bundle.map { " in the bundle \($0)" } ?? "") + ")"
        }
        return "\(effective.clock)  \(changeClass.rawValue) from the subscription "
            + part(fromOriginalTransactionId, fromProductId, fromBundleProductId)
            + ", which was \(previousStatus.description.replacing("_", with: " ")), to "
            + part(toOriginalTransactionId, toProductId, toBundleProductId)
            + ", because of \(positions.marks)"
    }
}
