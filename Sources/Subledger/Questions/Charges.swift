public import EventLog
public import Events
public import Projections

/// What a customer was charged, and what became of it.
package enum ChargesQuestion: Question {
    package static let name = "charges"
    package static let abstract = "Every charge of a customer, with its refunds and their reasons."
    package static let discussion = """
        Covers all subscriptions and one-time purchases of the customer. The first line can be \
        pasted into a ticket: it says when two charges overlap, whether renewal was switched off \
        before or after the last charge, or off and on again before it, whether that charge was \
        for a new purchase, and whether a refund ended the subscription. A free trial is \
        listed with the price 0; what another party pays for (family sharing, an assigned seat) is \
        not a charge. Apple signs the price with tax, and does not sign what the bank shows.
        """
    package static let meaningOfAt = "Charges and refunds up to this instant, as known now."
    package static let parameters: [QuestionParameter: String] = [
        .product: "Only charges for this product; repeat for more."
    ]
    package static let repeated: Set<QuestionParameter> = [.product]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> ChargesDocument {
        try await ledger.charges(
            of: asked.subject,
            at: asked.at,
            products: asked.values[.product, default: []],
            knownAt: asked.knownAt,
            now: asked.now
        )
    }

    package static func notes(_ answer: ChargesDocument) -> [String] {
        answer.erasures.compactMap(\.line)
    }
}

/// What a customer was charged.
public struct ChargesDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The answer in a few sentences, ready to paste into a ticket.
    public let summary: String
    /// Every charge, in the order of its date.
    public let charges: [Charge]
    /// What was charged, given back and kept, by currency.
    public let totals: [Total]
    /// Erasures that removed something about the subscriptions.
    public let erasures: [ErasureMark]

    /// One charge.
    public struct Charge: Codable, Hashable, Sendable {
        /// The subscription, or the one-time purchase.
        public let originalTransactionId: String
        /// Apple's id of the transaction; nil if no format contained one.
        public let transactionId: String?
        /// What was bought.
        public let productId: String
        /// The subscription group; nil if it was never stated, and for a one-time purchase.
        public let subscriptionGroupIdentifier: String?
        /// Apple's `purchaseDate`: the start of what was paid for.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`; nil for a one-time purchase.
        public let expiresDate: Instant?
        /// `first`, `renewal`, `resubscribe`, `plan_change`, `seats` or `one_time`.
        public let reason: String
        /// Apple's `offerType`; nil for the standard price.
        public let offerType: Int64?
        /// The amount in milliunits, for all seats; nil if Apple never stated it.
        public let priceMilliunits: Int64?
        /// The currency; nil if Apple never stated it.
        public let currency: String?
        /// Requests, refunds and reversals, in order.
        public let refunds: [RefundCase]
        /// The events it is based on.
        public let positions: [Position]
    }

    /// The sums in one currency, in milliunits.
    public struct Total: Codable, Hashable, Sendable {
        /// The currency; nil if Apple never stated it.
        public let currency: String?
        /// How many charges were not free.
        public let chargeCount: Int
        /// What was charged.
        public let chargedMilliunits: Int64
        /// What was given back.
        public let refundedMilliunits: Int64
        /// Charges whose price, and refunds whose amount, Apple never stated: not in the sums.
        public let unknownCount: Int
    }
}

extension Ledger {
    /// What a customer was charged, over all their subscriptions and one-time purchases.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment, or the only other
    ///     environment that knows the customer if production does not.
    ///   - instant: Charges and refunds up to it, by everything known now; nil for all.
    ///   - products: The charges for these products only; empty for all.
    ///   - knownAt: How much of the log is used.
    ///   - now: The time of the question, which decides whose the subscriptions are.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` if nothing is known of the customer; `EventLogError`.
    public func charges(
        of subject: SubjectID,
        at instant: Instant? = nil,
        products: [String] = [],
        knownAt: KnownAt = .latest,
        now: Instant
    ) async throws -> ChargesDocument {
        try await log.onOneConnection {
            let known: Known
            do {
                known = try await self.known(of: subject, at: instant ?? now, knownAt: knownAt)
            } catch let error as QuestionError where error.code == .otherEnvironment {
                guard subject.environment == nil, let other = try await elsewhere(subject) else {
                    throw error
                }
                known = try await self.known(of: other, at: instant ?? now, knownAt: knownAt)
            }
            let asked = subject.environment ?? .production
            return ChargesDocument(known, askedIn: asked, until: instant, products)
        }
    }
}

extension ChargesDocument {
    fileprivate init(
        _ known: Known,
        askedIn asked: StoreEnvironment,
        until instant: Instant?,
        _ products: [String]
    ) {
        let charges = known.timelines
            .flatMap { Charge.all(of: $0, known, until: instant) }
            .filter { charge in
                products.isEmpty
                    || products.contains { $0.utf8.elementsEqual(charge.productId.utf8) }
            }
            .sorted { $0.purchaseDate < $1.purchaseDate }
        id = known.id
        environment = known.environment
        self.charges = charges
        totals = Total.all(of: charges)
        summary =
            ChargesSummary(
                charges: charges.filter { $0.priceMilliunits != 0 },
                totals: totals,
                known: known,
                asked: asked,
                instant: instant
            ).text
        erasures = known.erasures
    }
}

extension ChargesDocument.Charge {
    // What another party pays for is not a charge.
    fileprivate static func all(
        of timeline: Timeline,
        _ known: Known,
        until instant: Instant?
    ) -> [Self] {
        let refunds = Refunds(timeline)
        let cases = instant.map { refunds.rows(asOf: $0) } ?? refunds.rows
        return TransactionRows(timeline, known.catalogs).rows
            .filter { row in
                row.terms.ownershipType.flatMap(Sharing.init(ownershipType:)) == nil
                    && (instant.map { row.time.start <= $0 } ?? true)
            }
            .map { row in
                Self(row, cases.filter { $0.isAbout(row) })
            }
    }

    private init(_ row: TransactionRow, _ cases: [RefundCase]) {
        originalTransactionId = row.stream.originalTransactionId
        transactionId = row.ids.storeTransactionId
        productId = row.product.productId
        subscriptionGroupIdentifier = row.product.subscriptionGroupIdentifier
        purchaseDate = row.time.start
        expiresDate = row.time.end
        reason = row.reasonOfCharge
        offerType = row.terms.offerType
        priceMilliunits = row.money.grossMilliunits
        currency = row.money.currency
        refunds = cases
        positions = row.positions
    }
}

extension TransactionRow {
    fileprivate var reasonOfCharge: String {
        if time.end == nil || !terms.isAutoRenewable { return "one_time" }
        if seats?.addedTo != nil { return "seats" }
        if place.isResubscribe { return "resubscribe" }
        if place.previousProductId != nil { return "plan_change" }
        return (place.renewalNumber ?? 1) > 1 ? "renewal" : "first"
    }
}

extension ChargesDocument.Total {
    fileprivate static func all(of charges: [ChargesDocument.Charge]) -> [Self] {
        let currencies = charges.map(\.currency).reduce(into: [String?]()) { found, currency in
            if !found.contains(currency) { found.append(currency) }
        }
        return currencies.sorted { ($0 ?? "") < ($1 ?? "") }.map { currency in
            let own = charges.filter { $0.currency == currency }
            let refunds = own.flatMap(\.refunds).filter { $0.state == .refunded }
            return Self(
                currency: currency,
                chargeCount: own.count { $0.priceMilliunits != 0 },
                chargedMilliunits: own.compactMap(\.priceMilliunits).sum,
                refundedMilliunits: refunds.compactMap(\.refundedMilliunits).sum,
                unknownCount: own.count { $0.priceMilliunits == nil }
                    + refunds.count { $0.refundedMilliunits == nil }
            )
        }
    }
}

extension [Int64] {
    // Forged amounts may be anything: a sum stays at the end of its range.
    fileprivate var sum: Int64 {
        reduce(0) { sum, value in
            let (result, overflow) = sum.addingReportingOverflow(value)
            return overflow ? (value < 0 ? .min : .max) : result
        }
    }
}

extension ChargesQuestion {
    package static func text(_ answer: ChargesDocument, _ asked: QuestionInput) -> [Block] {
        let title = "\(answer.id) · \(answer.environment) · \(QuestionZone.shown.name)"
        guard !answer.charges.isEmpty else { return [.line(answer.summary), .gap, .line(title)] }
        let rows = answer.charges.map { charge in
            [
                charge.purchaseDate.clock, charge.productId, charge.reasonWords,
                Amount.text(charge.priceMilliunits, charge.currency),
                charge.expiresDate?.clock ?? "–",
                charge.refunds.map(\.text).joined(separator: "; "),
                charge.transactionId ?? "–", charge.originalTransactionId, charge.positions.marks,
            ]
        }
        return [
            .line(answer.summary), .gap, .line(title),
            .table(
                [
                    "charged", "product", "for", "price", "paid until", "refund", "transaction",
                    "subscription", "because of",
                ],
                rows
            ),
        ]
            + answer.totals.map { total in
                .line(
                    "charged " + Amount.text(total.chargedMilliunits, total.currency)
                        + (total.refundedMilliunits == 0
                            ? ""
                            : ", refunded "
                                + Amount.text(total.refundedMilliunits, total.currency))
                        + (total.unknownCount == 0
                            ? "" : "; not counted, because not stated: \(total.unknownCount)")
                )
            }
    }
}

extension ChargesDocument.Charge {
    fileprivate var reasonWords: String {
        let words =
            switch reason {
            case "first": "first purchase"
            case "resubscribe": "new start after a lapse"
            case "plan_change": "change of plan"
            case "seats": "more seats"
            case "one_time": "one-time purchase"
            default: reason
            }
        return words + (OfferWords.text(offerType).map { ", \($0) offer" } ?? "")
    }
}

extension RefundCase {
    fileprivate var text: String {
        let date = reversed ?? refunded ?? declined ?? requested
        let words = [
            ([state.rawValue] + [date?.clock].compactMap { $0 }).joined(separator: " "),
            state == .refunded ? amountWords : nil,
            requestReason.map { "asked because \($0)" },
            reason == 1 ? "an issue with the app" : nil,
        ]
        return words.compactMap { $0 }.joined(separator: ", ")
    }
}
