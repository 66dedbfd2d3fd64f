package import EventLog
package import Events
internal import Projections

/// What changed in the knowledge of a customer between two positions or instants.
package struct KnowledgeDifferenceDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    package let customer: String
    /// The two bounds of knowledge.
    package let known: [String]
    /// Times with access by the first bound and none by the second.
    package let lostAccess: [Range<Instant>]
    /// Times with access only by the second bound.
    package let gainedAccess: [Range<Instant>]
    /// Periods that differ.
    package let periods: [Change]
    /// What the first bound states, apart from access and periods, and the second does not.
    package let lost: [Statement]
    /// What the second bound states, apart from access and periods, and the first does not.
    package let gained: [Statement]
    /// Why each subscription counts; empty if one subscription was asked for alone.
    package let grounds: [SubscriptionGround]

    /// A period that differs.
    package struct Change: Codable, Hashable, Sendable {
        /// What happened to it: `opened`, `renewed`, `grace`, `ended`, `restored`, `extended` or
        /// `corrected`.
        package let role: String
        /// The period by the first bound; nil if it did not exist yet.
        package let before: ExplanationDocument.Period?
        /// The period by the second bound; nil if it no longer exists.
        package let after: ExplanationDocument.Period?
    }

    /// A statement about a customer.
    package struct Statement: Codable, Hashable, Sendable {
        /// What it is about.
        package let aspect: Aspect
        /// The subscription; nil for eligibility, which belongs to a group.
        package let originalTransactionId: String?
        /// What is stated; two statements of one aspect and subscription are equal if their texts
        /// are.
        package let text: String
        /// The events it is based on.
        package let positions: [Position]
    }

    /// What a statement is about, in listing order.
    package enum Aspect: String, CaseIterable, Codable, Sendable {
        /// What was paid and kept.
        case money
        /// A refund.
        case refund
        /// A one-time purchase.
        case owned
        /// A change of plan.
        case plan
        /// How a subscription renews.
        case renewal
        /// The offers of a group.
        case eligibility
    }
}

extension Ledger {
    /// What changed in the knowledge of a customer between two bounds.
    ///
    /// - Parameters:
    ///   - subject: The customer, or one subscription alone.
    ///   - first: The earlier knowledge.
    ///   - second: The later knowledge.
    ///   - instant: The instant that selects the customer's subscriptions and their eligibility.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`, `CatalogError`.
    package func difference(
        of subject: SubjectID,
        from first: KnownAt,
        to second: KnownAt,
        at instant: Instant
    ) async throws -> KnowledgeDifferenceDocument {
        typealias Statement = KnowledgeDifferenceDocument.Statement
        let before = try await recorded(subject, at: instant, knownAt: first)
        let after = try await recorded(subject, at: instant, knownAt: second)
        let stated = Statement.all(of: before, at: instant, try await catalogs(knownAt: first))
        let states = Statement.all(of: after, at: instant, try await catalogs(knownAt: second))
        let old = before.histories.map { ActivePeriods(Timeline($0.latest)) }
        let new = after.histories.map { ActivePeriods(Timeline($0.latest)) }
        let access = AccessDifference(from: old.flatMap(\.active), to: new.flatMap(\.active))
        return KnowledgeDifferenceDocument(
            customer: subject.id,
            known: [first, second].map(log.text),
            lostAccess: access.lost,
            gainedAccess: access.gained,
            periods: PeriodChange.between(old.flatMap(\.rows), new.flatMap(\.rows)).map {
                KnowledgeDifferenceDocument.Change($0)
            },
            lost: Statement.missing(of: stated, in: states),
            gained: Statement.missing(of: states, in: stated),
            grounds: after.grounds.subscriptions
        )
    }
}

extension KnowledgeDifferenceDocument.Change {
    fileprivate init(_ change: PeriodChange) {
        role = change.role.rawValue
        before = change.before.map { ExplanationDocument.Period($0) }
        after = change.after.map { ExplanationDocument.Period($0) }
    }
}

extension KnowledgeDifferenceDocument {
    /// The answer as text; the instant decides whether an open period has ended.
    package func text(at instant: Instant) -> [Block] {
        var lines = lostAccess.map { "− access  \($0.lowerBound.clock) → \($0.upperBound.clock)" }
        lines += gainedAccess.map { "+ access  \($0.lowerBound.clock) → \($0.upperBound.clock)" }
        for change in periods {
            if let row = change.before { lines.append("− period  \(row.text(at: instant))") }
            if let row = change.after {
                lines.append(
                    "+ period  \(row.text(at: instant))  (\(change.role), \(row.positions.marks))"
                )
            }
        }
        for aspect in KnowledgeDifferenceDocument.Aspect.allCases {
            lines += lost.filter { $0.aspect == aspect }.map { "− \(aspect.rawValue)  \($0.text)" }
            lines += gained.filter { $0.aspect == aspect }.map {
                "+ \(aspect.rawValue)  \($0.text)"
                    + ($0.positions.isEmpty ? "" : "  (\($0.positions.marks))")
            }
        }
        lines = [customer] + (lines.isEmpty ? ["nothing changed"] : lines) + grounds.lines
        return lines.map(Block.line)
    }
}

extension ExplanationDocument.Period {
    fileprivate func text(at instant: Instant) -> String {
        let end =
            endReason == "open" && validTo <= instant
            ? "ended \(validTo.clock.prefix(10)), no renewal known" : endReason
        return "\(kind) \(productId) \(validFrom.clock) → \(validTo.clock) \(end)"
    }
}

// Every statement about a customer under one state of knowledge, apart from access and periods.
extension KnowledgeDifferenceDocument.Statement {
    /// Every statement about these subscriptions, including eligibility at an instant.
    static func all(
        of known: Known,
        at instant: Instant,
        _ catalogs: CatalogHistory
    ) -> [Self] {
        let timelines = known.histories.map { Timeline($0.latest) }
        var statements: [Self] = []
        for timeline in timelines {
            statements += TransactionRows(timeline, catalogs).rows.compactMap(
                Self.money
            )
            statements += Refunds(timeline).rows.map(Self.refund)
            statements += OneTimePurchase.all(of: timeline, catalogs).map(Self.owned)
            statements += PlanChanges(timeline, catalogs).rows.map(Self.plan)
            statements += RenewalStates(timeline).rows.map(Self.renewal)
        }
        let offers = OfferEligibility(
            timelines,
            environment: known.environment,
            catalogs: catalogs
        )
        statements += offers.groups(at: instant).map {
            Self.eligibility($0)
        }
        return statements.sorted { left, right in
            left.aspect == right.aspect ? false : left.aspect.rank < right.aspect.rank
        }
    }

    /// The statements that the other list lacks, each as often as it is missing.
    static func missing(
        of some: [Self],
        in others: [Self]
    ) -> [Self] {
        var counts: [[String?]: Int] = [:]
        for other in others { counts[other.key, default: 0] += 1 }
        return some.filter { statement in
            guard let count = counts[statement.key], count > 0 else { return true }
            counts[statement.key] = count - 1
            return false
        }
    }

    // What it states, whatever it is based on.
    private var key: [String?] { [aspect.rawValue, originalTransactionId, text] }
}

extension KnowledgeDifferenceDocument.Aspect {
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension KnowledgeDifferenceDocument.Statement {
    // A purchase without a known amount does not contribute a statement about money.
    private static func money(_ row: TransactionRow) -> Self? {
        guard row.money.grossMilliunits != nil else { return nil }
        let currency = row.money.currency
        return Self(
            aspect: .money,
            originalTransactionId: row.stream.originalTransactionId,
            text: "\(row.product.productId) \(row.time.start.clock) paid "
                + "\(Amount.text(row.money.grossMilliunits, currency)), kept "
                + Amount.kept(row.money.netMilliunits, of: row.money.grossMilliunits, currency),
            positions: row.positions
        )
    }

    private static func refund(_ row: RefundCase) -> Self {
        var words = [RefundWords.text(row.state.rawValue, row.kind?.rawValue)]
        words += [row.productId, row.purchaseDate.clock]
        for (word, instant) in [
            ("requested", row.requested), ("declined", row.declined), ("refunded", row.revoked),
            ("reversed", row.reversed),
        ] {
            if let instant { words.append("\(word) \(instant.clock)") }
        }
        if let amount = row.refundedMilliunits {
            words.append("amount \(Amount.text(amount, row.currency))")
        }
        return Self(
            aspect: .refund,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func owned(_ purchase: OneTimePurchase) -> Self {
        let verdict =
            purchase.revocationDate.map { "revoked \($0.clock)" }
            ?? (purchase.isJudged ? "owned" : "not judged")
        return Self(
            aspect: .owned,
            originalTransactionId: purchase.stream.originalTransactionId,
            text: "\(purchase.productId) (\(purchase.kind.words)) bought "
                + "\(purchase.purchaseDate.clock) \(verdict)",
            positions: purchase.positions
        )
    }

    private static func plan(_ row: PlanChange) -> Self {
        var words = [
            row.state.rawValue, row.changeClass.rawValue,
            "\(row.fromProductId) → \(row.toProductId)",
        ]
        for (word, instant) in [
            ("requested", row.requested), ("effective", row.effective),
            ("withdrawn", row.withdrawn),
        ] {
            if let instant { words.append("\(word) \(instant.clock)") }
        }
        return Self(
            aspect: .plan,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func renewal(_ row: RenewalState) -> Self {
        var words = [
            "status \(row.status), charge \(row.charge.rawValue), \(row.validFrom.clock) → "
                + (row.validTo?.clock ?? "until further notice")
        ]
        if let isOn = row.isAutoRenewOn { words.append("auto-renew \(isOn ? "on" : "off")") }
        if let product = row.autoRenewProductId { words.append("next \(product)") }
        if let consent = row.priceConsent { words.append("price \(consent.rawValue)") }
        return Self(
            aspect: .renewal,
            originalTransactionId: row.stream.originalTransactionId,
            text: words.joined(separator: " "),
            positions: row.positions
        )
    }

    private static func eligibility(_ group: GroupEligibility) -> Self {
        let document = EligibilityDocument.Group(group, .none)
        let words = document.verdicts.map {
            "\($0.offer) \($0.verdict.eligible ? "yes" : "no") (\($0.verdict.rule))"
        }
        let blocking = document.verdicts.flatMap { $0.verdict.blocking?.positions ?? [] }
        return Self(
            aspect: .eligibility,
            originalTransactionId: nil,
            text: "group \(document.name): " + words.joined(separator: ", ")
                + ", offer code as \(document.subscriber)",
            positions: Set(blocking).sorted()
        )
    }
}
