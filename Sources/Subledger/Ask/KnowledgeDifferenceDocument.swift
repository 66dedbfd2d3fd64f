public import EventLog
public import Events
internal import Projections

/// What changed in the knowledge of a customer between two positions or instants.
public struct KnowledgeDifferenceDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let customer: String
    /// The two bounds of knowledge.
    public let known: [String]
    /// Times with access by the first bound and none by the second.
    public let lostAccess: [IntervalValue]
    /// Times with access only by the second bound.
    public let gainedAccess: [IntervalValue]
    /// Periods that differ.
    public let periods: [Change]
    /// What the first bound states, apart from access and periods, and the second does not.
    public let lost: [Statement]
    /// What the second bound states, apart from access and periods, and the first does not.
    public let gained: [Statement]
    /// Why each subscription counts; empty if one subscription was asked for alone.
    public let grounds: [SubscriptionGround]

    /// A period that differs.
    public struct Change: Codable, Hashable, Sendable {
        /// What happened to it: `opened`, `renewed`, `grace`, `ended`, `restored`, `extended` or
        /// `corrected`.
        public let role: String
        /// The period by the first bound; nil if it did not exist yet.
        public let before: ExplanationDocument.Period?
        /// The period by the second bound; nil if it no longer exists.
        public let after: ExplanationDocument.Period?
    }

    /// A statement about a customer.
    public struct Statement: Codable, Hashable, Sendable {
        /// What it is about.
        public let aspect: Aspect
        /// The subscription; nil for eligibility, which belongs to a group.
        public let originalTransactionId: String?
        /// What is stated; two statements of one aspect and subscription are equal if their texts
        /// are.
        public let text: String
        /// The events it is based on.
        public let positions: [Position]
    }

    /// What a statement is about, in listing order.
    public enum Aspect: String, CaseIterable, Codable, Sendable {
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
    public func difference(
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
            lostAccess: access.lost.map(IntervalValue.init),
            gainedAccess: access.gained.map(IntervalValue.init),
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
