public import EventLog
public import Events
public import Projections

/// When a subscription gave access, and why it stopped.
package enum PeriodsQuestion: Question {
    package static let name = "periods"
    package static let abstract = "When a subscription gave access, and why it stopped."
    package static let discussion = """
        Computed from the log, not read from a table. A period is open if it had not ended \
        when Apple last reported on the subscription. If its end has passed since, the \
        text output shows "ended 2015-07-09, no renewal known"; --json and the table \
        active_periods, which do not depend on the current time, still show open.
        """
    package static let meaningOfAt = "Only the periods that contain this instant."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> PeriodsDocument {
        try await ledger.periods(
            of: asked.subject,
            at: asked.at,
            knownAt: asked.knownAt
        )
    }

    package static func text(_ answer: PeriodsDocument, _ asked: QuestionInput) -> [Block] {
        let title = answer.title
        guard answer.isKnown else { return [.line(title), .line(NothingKnown.words)] }
        if answer.periods.isEmpty, let purchase = answer.oneTimePurchase {
            return [.line(title), .line(purchase.sentence(without: "periods"))]
        }
        let rows = answer.periods.map { row in
            [
                row.validFrom.clock, row.validTo.clock, row.kind.rawValue,
                row.endWords(at: asked.at ?? asked.now), row.productWords, row.positions.marks,
            ]
        }
        let times = answer.active.map(\.text)
        return [
            .line(title),
            .table(["from", "to", "kind", "ended", "product", "because of"], rows),
            .line(times.isEmpty ? "no access" : "access " + times.joined(separator: ", ")),
        ] + answer.linksNotInForce.map { .line($0.line) }
    }
}

/// When a subscription gave access, and why it stopped.
public struct PeriodsDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// Its periods by start, including those without access.
    public let periods: [ActivePeriod]
    /// The times with access, merged.
    public let active: [Range<Instant>]
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
                active: periods.active.filter { interval in
                    instant.map(interval.contains) ?? true
                },
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

extension ActivePeriod {
    /// What was bought, and its billing plan if Apple stated one.
    fileprivate var productWords: String {
        var words = [productId] + [billingPlanType].compactMap { $0 }
        if let number = commitment?.periodNumber, let count = commitment?.periodCount {
            words.append("\(number) of \(count)")
        }
        if let expires = commitment?.expiresDate {
            words.append("committed until \(expires.clock)")
        }
        if let seatQuantity { words.append(counted(seatQuantity, "seat")) }
        if let bundleProductId { words.append("in bundle \(bundleProductId)") }
        words += (advancedCommerceItems ?? []).map { item in
            let name = item.displayName.map { " “\($0)”" } ?? ""
            let price = item.priceMilliunits.map { " " + Amount.text($0, nil) } ?? ""
            return "item \(item.sku)\(name)\(price)"
        }
        return words.joined(separator: " · ")
    }

    /// Why it ended, with Apple's reason if it stated one; by the clock if Apple made no statement.
    fileprivate func endWords(at instant: Instant) -> String {
        if endReason == .open, validTo <= instant {
            return "ended \(validTo.clock.prefix(10)), no renewal known"
        }
        if planChange == .crossgrade { return "crossgraded" }
        if endReason == .assignmentEnded { return "assignment ended" }
        return endReason.rawValue + (expirationReason.map { " (\($0.rawValue))" } ?? "")
    }
}
