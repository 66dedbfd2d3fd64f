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
        public let before: Period?
        /// The period by the second bound; nil if it no longer exists.
        public let after: Period?
    }

    /// A period with its subscription.
    public struct Period: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// What was bought.
        public let productId: String
        /// `trial`, `intro`, `offer`, `paid` or `grace`.
        public let kind: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`.
        public let expiresDate: Instant
        /// The first instant with access.
        public let validFrom: Instant
        /// The end of the access, exclusive.
        public let validTo: Instant
        /// Why it ended; `open` if it had not ended by Apple's last statement.
        public let endReason: String
        /// The events it is based on.
        public let positions: [Position]
    }

    /// A statement about a customer.
    public struct Statement: Codable, Hashable, Sendable {
        /// `money`, `refund`, `owned`, `plan`, `renewal` or `eligibility`.
        public let aspect: String
        /// The subscription; nil for eligibility, which belongs to a group.
        public let originalTransactionId: String?
        /// What is stated.
        public let text: String
        /// The events it is based on.
        public let positions: [Position]
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
        let before = try await asked(subject, at: instant, knownAt: first)
        let after = try await asked(subject, at: instant, knownAt: second)
        let stated = KnownStatement.all(of: before, at: instant, try await catalogs(knownAt: first))
        let states = KnownStatement.all(of: after, at: instant, try await catalogs(knownAt: second))
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
            lost: KnownStatement.missing(of: stated, in: states).map {
                KnowledgeDifferenceDocument.Statement($0)
            },
            gained: KnownStatement.missing(of: states, in: stated).map {
                KnowledgeDifferenceDocument.Statement($0)
            },
            grounds: after.grounds.subscriptions
        )
    }
}

extension KnowledgeDifferenceDocument {
    /// The aspects of statements, in listing order.
    package static let aspects = KnownStatement.Aspect.allCases.map(\.rawValue)
}

extension KnowledgeDifferenceDocument.Change {
    fileprivate init(_ change: PeriodChange) {
        role = change.role.rawValue
        before = change.before.map { KnowledgeDifferenceDocument.Period($0) }
        after = change.after.map { KnowledgeDifferenceDocument.Period($0) }
    }
}

extension KnowledgeDifferenceDocument.Period {
    fileprivate init(_ row: ActivePeriod) {
        originalTransactionId = row.stream.originalTransactionId
        productId = row.productId
        kind = row.kind.rawValue
        purchaseDate = row.purchaseDate
        expiresDate = row.expiresDate
        validFrom = row.validFrom
        validTo = row.validTo
        endReason = row.endReason.rawValue
        positions = row.positions
    }
}

extension KnowledgeDifferenceDocument.Statement {
    fileprivate init(_ statement: KnownStatement) {
        aspect = statement.aspect.rawValue
        originalTransactionId = statement.stream?.originalTransactionId
        text = statement.words
        positions = statement.positions
    }
}
