public import EventLog
public import Events
public import Projections

/// What was requested, refunded and reversed.
package enum RefundsQuestion: Question {
    package static let name = "refunds"
    package static let abstract =
        "Refunds requested, declined, granted and reversed, purchase by purchase."
    package static let discussion = """
        Lists every refund case, then the state of each purchase. Asked with an id of a customer \
        who has one subscription, it covers their one-time purchases, too; `charges` lists the \
        refunds of all their subscriptions. Computed from the log, not read from a table.
        """
    package static let meaningOfAt = "Cases, states and money at this instant, as known now."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> RefundsDocument {
        try await ledger.refunds(
            of: asked.subject,
            at: asked.at,
            knownAt: asked.knownAt
        )
    }

    package static func text(_ answer: RefundsDocument, _ asked: QuestionInput) -> [Block] {
        guard answer.isKnown else { return [.line(answer.title), .line(NothingKnown.words)] }
        var blocks = [Block.line(answer.title)]
        if !answer.oneTimePurchases.isEmpty {
            let ids = answer.oneTimePurchases.joined(separator: ", ")
            blocks.append(.line("with the customer's one-time purchases: \(ids)"))
        }
        if !answer.withoutPurchase.isEmpty {
            blocks.append(
                .line(
                    "refunds of unknown purchases, so their amounts are unknown: "
                        + "\(answer.withoutPurchase.marks); `subledger event` shows each"
                )
            )
        }
        if !answer.refunds.isEmpty {
            let header = [
                "purchase", "product", "state", "timing", "requested", "declined", "refunded",
                "reported", "reversed", "given back", "because of",
            ]
            blocks.append(.table(header, answer.refunds.map(\.cells)))
        } else if answer.withoutPurchase.isEmpty {
            blocks.append(.line("no refund was requested or granted"))
        }
        let header = ["purchase", "product", "state", "paid", "kept"]
        return blocks + [.gap, .table(header, answer.purchases.map(\.cells))]
            + answer.estimates.map { .line($0.text) }
    }
}

/// What was requested, refunded and reversed, purchase by purchase.
public struct RefundsDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// The one-time purchases of the customer that the answer covers, too: all of them if the id
    /// names the customer, otherwise none.
    public let oneTimePurchases: [String]
    /// Every case, in the order of the purchases, those of the subscription first.
    public let refunds: [RefundCase]
    /// The current state of each purchase.
    public let purchases: [Purchase]
    /// Refund announcements whose purchase is not known.
    public let withoutPurchase: [Position]
    /// Probable refunds for changes of plan: not counted in any total, because Apple does not sign
    /// an amount.
    public let estimates: [Estimate]
    /// What was erased of the subscription and of these one-time purchases.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// The probable refund for one change of plan.
    public struct Estimate: Codable, Hashable, Sendable {
        /// The product that was replaced.
        public let productId: String
        /// When it was replaced.
        public let replacedAt: Instant
        /// Milliunits of the currency.
        public let estimatedRefundMilliunits: Int64
        /// The currency of the purchase.
        public let currency: String?
        /// The events it is based on.
        public let positions: [Position]
    }

    /// The state of a purchase.
    public struct Purchase: Codable, Hashable, Sendable {
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`; nil for a one-time purchase.
        public let expiresDate: Instant?
        /// `kept`, or the state of the case that decides.
        public let state: String
        /// The kind of the deciding case.
        public let kind: String?
        /// What was paid, in milliunits.
        public let grossMilliunits: Int64?
        /// The part that was kept, in milliunits.
        public let netMilliunits: Int64?
        /// The currency of both.
        public let currency: String?
    }
}

extension Ledger {
    /// What was requested, refunded and reversed, purchase by purchase.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Cases, states and money as they were at the instant, by everything known now;
    ///     nil for the current state.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func refunds(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> RefundsDocument {
        RefundsDocument(try await subscription(subject, knownAt: knownAt), asOf: instant)
    }
}

extension RefundsDocument {
    fileprivate init(_ known: Known, asOf instant: Instant?) {
        func hasBegun(_ start: Instant) -> Bool { instant.map { start <= $0 } ?? true }
        let others = known.oneTimePurchases
        let timelines = [known.timeline] + others.map(\.timeline)
        let histories = [known.history] + others.map(\.history)
        let cases = zip(timelines, histories).map { Self.cases($0, $1, asOf: instant) }
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        isKnown = !known.history.events.isEmpty
        oneTimePurchases = others.map(\.stream.originalTransactionId)
        refunds = cases.flatMap { $0 }
        let rows = timelines.map { TransactionRows($0, .none).rows }
        purchases = zip(rows, cases).flatMap { rows, cases in
            rows.filter { hasBegun($0.time.start) }.map { Purchase($0, among: cases) }
        }
        withoutPurchase = timelines.flatMap(Refunds.unplaced)
        estimates = PlanChanges(known.timeline, .none).rows.bounded(
            by: cases[0],
            of: rows[0]
        ).compactMap { change in
            guard change.effective.map(hasBegun) ?? false else { return nil }
            return Estimate(change)
        }
        erasures = known.erasures + others.flatMap { ErasureMark.all(in: $0.history.events) }
        otherSubscriptions = known.others.map { $0 - others.count }
    }

    private static func cases(
        _ timeline: Timeline,
        _ history: StreamHistory,
        asOf instant: Instant?
    ) -> [RefundCase] {
        let all = Refunds(timeline)
        let revocations = RevocationChanges(history)
        return (instant.map { all.rows(asOf: $0) } ?? all.rows).map { row in
            var row = row
            row.earlierRevocationDate = revocations.earlierDate(
                than: row.revoked,
                at: row.positions
            )
            return row
        }
    }
}

extension RefundsDocument.Estimate {
    fileprivate init?(_ change: PlanChange) {
        guard let milliunits = change.estimatedRefundMilliunits, let effective = change.effective
        else { return nil }
        productId = change.fromProductId
        replacedAt = effective
        estimatedRefundMilliunits = milliunits
        currency = change.estimatedRefundCurrency
        positions = change.positions
    }
}

extension RefundsDocument.Purchase {
    fileprivate init(_ row: TransactionRow, among cases: [RefundCase]) {
        let nets = cases.filter { $0.isNet && $0.isAbout(row) }
        let net = nets.last
        productId = row.product.productId
        purchaseDate = row.time.start
        expiresDate = row.time.end
        state = net?.state.rawValue ?? "kept"
        kind = net?.kind?.rawValue
        grossMilliunits = row.money.grossMilliunits
        let gross = row.money.grossMilliunits
        netMilliunits = nets.reduce(gross) { left, net in
            guard let left else { return nil }
            if net.state == .revoked { return left }
            return net.refundedMilliunits.flatMap { given in
                let (kept, overflow) = left.subtractingReportingOverflow(given)
                return overflow ? nil : kept
            }
        }
        currency = row.money.currency
    }
}

extension RefundsDocument.Estimate {
    fileprivate var text: String {
        "\(replacedAt.clock)  "
            + unusedPartWords(productId, estimatedRefundMilliunits, currency)
            + ", so no total contains this estimate (\(positions.marks))"
    }
}

extension RefundsDocument.Purchase {
    fileprivate var cells: [String] {
        [
            purchaseDate.clock, productId, RefundWords.text(state, kind),
            Amount.text(grossMilliunits, currency),
            Amount.kept(netMilliunits, of: grossMilliunits, currency),
        ]
    }
}

extension RefundCase {
    fileprivate var cells: [String] {
        func clock(_ instant: Instant?, _ word: String? = nil) -> String {
            guard let clock = instant?.clock else { return "–" }
            return word.map { "\(clock) \($0)" } ?? clock
        }
        return [
            purchaseDate.clock, productId, stateWords, timing?.rawValue ?? "–",
            clock(requested, requestReason), clock(declined),
            clock(revoked, earlierRevocationDate.map { "(was \($0.clock))" }),
            clock(announced), clock(reversed, reversal?.rawValue),
            amountWords ?? Amount.text(nil, currency), positions.marks,
        ]
    }

    /// The state as text, with the number of seats that were taken back.
    fileprivate var stateWords: String {
        let words = RefundWords.text(state.rawValue, kind?.rawValue)
        return seatQuantity.map { words.replacing("seats", with: counted($0, "seat")) } ?? words
    }
}
