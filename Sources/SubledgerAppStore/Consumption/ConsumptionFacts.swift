internal import EventLog
package import Events
internal import Projections
internal import Subledger

/// What the ledger knows about a purchase whose customer asks for a refund, as of the request.
package struct ConsumptionFacts: Encodable, Hashable, Sendable {
    /// The position of the request.
    package let position: Position
    /// Where the purchase was made.
    package let environment: StoreEnvironment
    /// The app.
    package let bundleId: String
    /// The subscription, or the one-time purchase.
    package let originalTransactionId: String
    /// The transaction whose refund the customer asks for.
    package let transactionId: String
    /// What was bought.
    package let productId: String
    /// Apple's `purchaseDate`.
    package let purchaseDate: Instant
    /// Apple's `expiresDate`; nil for a one-time purchase.
    package let expiresDate: Instant?
    /// The app's token of the purchase; nil if it has none.
    package let appAccountToken: String?
    /// The app's own id of the customer; nil unless a link names it.
    package let customerId: String?
    /// Why the customer asks, in Apple's word; nil if Apple did not say.
    package let consumptionRequestReason: String?
    /// When Apple signed the request.
    package let requestedAt: Instant
    /// Until when Apple takes an answer.
    package let dueAt: Instant
    /// Refunds of the customer before the request, of any purchase, that Apple did not reverse.
    package let earlierRefunds: Int
    /// Whole days from the customer's first purchase to the request.
    package let accountDays: Int
    /// The share of the period that had passed, in thousandths of a percent; nil for a one-time
    /// purchase.
    package let usedMilliPercent: Int?
    /// Whether the customer had a free trial or an introductory offer of the group before.
    package let hadTrialOrIntroOffer: Bool

    /// Why an answer makes no sense; nil if it does.
    var notNeeded: String?

    // What the app is told and decides upon; the rest is ours.
    private enum CodingKeys: String, CodingKey {
        case position, environment, bundleId, originalTransactionId, transactionId, productId
        case purchaseDate, expiresDate, appAccountToken, customerId, consumptionRequestReason
        case requestedAt, dueAt, earlierRefunds, accountDays, usedMilliPercent
        case hadTrialOrIntroOffer
    }

    /// Whether one of these texts is an id of the customer.
    func isCustomer(_ ids: Set<String>) -> Bool {
        [customerId, appAccountToken].compactMap(\.self).contains(where: ids.contains)
    }
}

extension ConsumptionRequest {
    /// What a ledger knows about the purchase; nil if it does not know the purchase.
    ///
    /// - Throws: `EventLogError`.
    func facts(in ledger: Ledger) async throws(EventLogError) -> ConsumptionFacts? {
        let history = try await ledger.log.history(of: stream, knownAt: .latest)
        let timeline = Timeline(history)
        var customer: Customer?
        do throws(EventLogError) {
            customer = try await ledger.customer(
                stream.originalTransactionId,
                in: stream.environment
            )
        } catch {
            // The answer is then about this subscription alone.
            guard error.code == .tooManyStreams else { throw error }
        }
        let others = (customer?.streams(ownedAt: requestedAt) ?? []).map(\.timeline)
            .filter { $0.stream != stream }
        let own = TransactionRows(timeline, .none).rows
        guard let row = own.last(where: { $0.has(transactionId) }) else { return nil }
        let rows = own + others.flatMap { TransactionRows($0, .none).rows }
        let cases = Refunds(timeline).rows.filter { $0.isAbout(row) }
        return ConsumptionFacts(
            self,
            row,
            rows: rows,
            earlier: ([timeline] + others).flatMap { Refunds($0).rows(asOf: requestedAt) },
            reason: timeline.notifications.first { $0.offset == position.offset }?
                .consumptionRequestReason,
            customerId: customer?.customerId,
            notNeeded: row.notNeeded(cases, since: requestedAt)
        )
    }
}

extension ConsumptionFacts {
    fileprivate init(
        _ request: ConsumptionRequest,
        _ row: TransactionRow,
        rows: [TransactionRow],
        earlier: [RefundCase],
        reason: String?,
        customerId: String?,
        notNeeded: String?
    ) {
        let then = request.requestedAt
        position = request.position
        environment = request.stream.environment
        bundleId = request.bundleId
        originalTransactionId = request.stream.originalTransactionId
        transactionId = request.transactionId
        productId = row.product.productId
        (purchaseDate, expiresDate) = (row.time.start, row.time.end)
        appAccountToken = row.ids.appAccountToken
        self.customerId = customerId
        consumptionRequestReason = reason
        (requestedAt, dueAt) = (then, request.dueAt)
        earlierRefunds = earlier.count { $0.state == .refunded }
        let first = rows.map(\.time.start).min() ?? row.time.start
        accountDays = Int(max(0, then.milliseconds - first.milliseconds) / 86_400_000)
        usedMilliPercent = row.time.end.map { end in
            let whole = max(1, end.milliseconds - row.time.start.milliseconds)
            let used = min(whole, max(0, then.milliseconds - row.time.start.milliseconds))
            return Int(used * Int64(ConsumptionInformation.percentageMax) / whole)
        }
        hadTrialOrIntroOffer = rows.contains { other in
            (other.terms.isTrialPeriod || other.terms.isInIntroOfferPeriod)
                && other.time.start <= row.time.start && other.isOfGroup(of: row)
                && !other.has(request.transactionId)
        }
        self.notNeeded = notNeeded
    }
}

extension TransactionRow {
    fileprivate func has(_ id: String) -> Bool {
        ids.storeTransactionId == id || ids.duplicateTransactionIds.contains(id)
    }

    fileprivate func isOfGroup(of other: TransactionRow) -> Bool {
        guard let group = other.product.subscriptionGroupIdentifier else {
            return stream == other.stream
        }
        return product.subscriptionGroupIdentifier == group
    }

    // Whoever did not pay gets no refund, and what Apple has decided needs no answer: then nothing
    // of the customer leaves the ledger.
    fileprivate func notNeeded(_ cases: [RefundCase], since request: Instant) -> String? {
        if let owner = terms.ownershipType, owner != "PURCHASED" {
            return "another account pays for the purchase (\(owner))"
        }
        if cases.contains(where: { $0.isNet && ($0.state == .refunded || $0.state == .revoked) }) {
            return "Apple has refunded the purchase"
        }
        if cases.contains(where: { $0.declined.map { $0 >= request } ?? false }) {
            return "Apple has declined the refund"
        }
        return nil
    }
}
