public import EventLog
public import Events
public import Projections

/// The state of a subscription over time, and how it was set to renew.
package enum StateQuestion: Question {
    package static let name = "state"
    package static let abstract = "The states of a subscription, and whether it was set to renew."
    package static let discussion = """
        Computed from the log, not read from a table. A row without an end is still valid as \
        far as is known; after the end of the last row, nothing is known.
        """
    package static let meaningOfAt = "Only the state at this instant."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> StateDocument {
        try await ledger.state(
            of: asked.subject,
            at: asked.at,
            knownAt: asked.knownAt
        )
    }

    package static func text(_ answer: StateDocument, _ asked: QuestionInput) -> [Block] {
        guard !answer.states.isEmpty else { return [.line(answer.title), .line(answer.whyNone)] }
        let rows = answer.states.map { row in
            [
                row.validFrom.clock, row.validTo?.clock ?? "until further notice",
                row.status.description, row.expirationReason?.rawValue ?? "", row.charge.rawValue,
                row.isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown",
                row.autoRenewProductId ?? "", row.terms?.words ?? "",
                row.priceConsent?.rawValue ?? "", row.positions.marks,
            ]
        }
        let now = asked.at ?? asked.now
        let summary = answer.states.last { $0.validFrom <= now }?.sentence(at: now)
        return (summary.map { [.line($0), .gap] } ?? []) + [
            .line(answer.title),
            .table(
                [
                    "from", "to", "status", "reason", "charge", "auto-renew", "next product",
                    "next charge", "price increase", "because of",
                ],
                rows
            ),
        ]
    }
}

/// The state of a subscription over time, and how it was set to renew.
public struct StateDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Its states by time.
    public let states: [RenewalState]
    /// Why there is no state, or none at the instant asked about; nil if there is one.
    public let noState: NoState?
    /// The one-time purchase, if the id names one; nil for a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
    public let otherSubscriptions: Int?

    /// Why there is no state.
    public struct NoState: Codable, Hashable, Sendable {
        /// `oneTimePurchase`, or why there is no access at the instant.
        public let reason: String
        /// The end of the last access; nil if there was none.
        public let since: Instant?
    }
}

extension Ledger {
    /// The state of a subscription over time, and how it was set to renew.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the state at it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func state(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> StateDocument {
        StateDocument(try await subscription(subject, knownAt: knownAt), at: instant)
    }
}

extension StateDocument {
    fileprivate init(_ known: Known, at instant: Instant?) {
        let all = RenewalStates(known.timeline)
        let rows = instant.map { all.state(at: $0).map { [$0] } ?? [] } ?? all.rows
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        states = rows
        oneTimePurchase = OneTimePurchaseDocument(insteadOf: known)
        // After Apple's last statement there is no state, but how the access ended is known.
        if rows.isEmpty, oneTimePurchase != nil {
            noState = NoState(reason: "oneTimePurchase", since: nil)
        } else if rows.isEmpty, let instant {
            let answer = AccessAnswer(known.timeline, at: instant)
            noState = answer.reason.map {
                NoState(reason: $0.rawValue, since: answer.period?.validTo)
            }
        } else {
            noState = nil
        }
        erasures = known.erasures
        otherSubscriptions = known.others
    }
}

extension RenewalState {
    /// How it continues, ready to paste into a ticket.
    fileprivate func sentence(at now: Instant) -> String {
        let end = validTo.map { $0.dayWords ?? $0.clock }
        let price = (terms?.totalMilliunits ?? terms?.priceMilliunits).map {
            " for " + Amount.text($0, terms?.currency)
        }
        let plan = (autoRenewProductId.map { " as \($0)" } ?? "") + (price ?? "")
        if let validTo, validTo <= now {
            return "Nothing is known after \(end ?? ""): Apple stated no renewal."
        }
        switch status {
        case .active:
            let until = end.map { "paid until \($0)" } ?? "active until further notice"
            guard let isAutoRenewOn else {
                return "It is \(until); Apple has not stated whether it renews."
            }
            guard isAutoRenewOn else {
                return "It does not renew: renewal is switched off; \(until)."
            }
            let consent =
                priceConsent == .pending ? ", if the customer agrees to the price increase" : ""
            return "It renews" + (end.map { " on \($0)" } ?? "") + plan + consent + "."
        case .gracePeriod:
            return "The renewal\(plan) could not be charged yet; access continues"
                + (end.map { " until \($0)" } ?? "") + ", in Apple's grace period."
        case .billingRetry:
            return "The renewal\(plan) could not be charged; Apple tries again, and there is no "
                + "access until then."
        case .expired: return "It has ended."
        case .revoked: return "Apple took it back: it was refunded, or is no longer shared."
        }
    }
}

extension StateDocument {
    fileprivate var whyNone: String {
        if let oneTimePurchase { return oneTimePurchase.sentence(without: "renewal state") }
        guard let noState else { return NothingKnown.words }
        let reason = NoAccessReason(rawValue: noState.reason)?.words ?? noState.reason
        return noState.since.map {
            "\(reason) since \($0.clock), and Apple reported nothing after it"
        }
            ?? reason
    }
}

extension RenewalTerms {
    /// The next charge as a short text.
    fileprivate var words: String {
        var words: [String] = []
        if let seatQuantity {
            words.append(
                counted(seatQuantity, "seat") + " for " + Amount.text(totalMilliunits, currency)
            )
        } else if let priceMilliunits {
            words.append(Amount.text(priceMilliunits, currency))
        }
        if let offer {
            let kind = OfferWords.text(offer.type)
            words.append(
                [kind, "offer", offer.identifier].compactMap { $0 }.joined(separator: " ")
            )
            words += [offer.discountType, offer.period].compactMap { $0 }
        }
        if let billingPlanType { words.append(billingPlanType) }
        if let commitment, let date = commitment.renewalDate {
            let isOff = commitment.isAutoRenewOn == false
            words.append("commitment \(isOff ? "ends" : "renews") \(date.clock)")
        }
        if let bundleProductId {
            words.append("\(willUnbundle ? "leaves" : "in") bundle \(bundleProductId)")
        } else if willUnbundle {
            words.append("leaves the bundle")
        }
        return words.joined(separator: " · ")
    }
}
