public import EventLog
public import Events
public import Projections

/// Whether a customer has access at an instant, and to what.
public struct AccessDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: Environment
    /// The instant asked about.
    public let at: Instant
    /// The answer.
    public let access: Bool
    /// The end of the access, as far as it is known; nil if there is no access, or no end.
    public let until: Instant?
    /// The products that give it, each once, in the order of their bytes.
    public let products: [String]
    /// The subscription groups with access.
    public let groups: [Group]
    /// The times with access through subscriptions, merged.
    public let intervals: [IntervalValue]
    /// All subscriptions that were considered, each with the reason it counts as the customer's.
    public let subscriptions: [SubscriptionGround]
    /// Subscriptions that are joined to several customers, and so give access to none of them.
    public let ambiguous: [AmbiguousSubscription]
    /// Links to the customer that were not in force at the instant; the subscriptions they name do
    /// not count.
    public let linksNotInForce: [LinkNotInForce]
    /// The non-consumables that are owned.
    public let owned: [OneTimePurchaseDocument]
    /// The one-time purchases for which only the app can decide whether they give access.
    public let notJudged: [OneTimePurchaseDocument]
    /// The one-time purchases that Apple had revoked.
    public let revoked: [OneTimePurchaseDocument]
    /// Erasures that removed something about the subscriptions.
    public let erasures: [ErasureMark]
    /// The rule by which a sandbox purchase gives access in production; nil if none does, and
    /// always nil without a `SandboxPolicy`.
    public internal(set) var sandboxRule: SandboxRule?

    /// A group with access: the period that counts, then all active periods.
    public struct Group: Codable, Hashable, Sendable {
        /// Apple's identifier; nil if no format named it.
        public let subscriptionGroupIdentifier: String?
        /// The period that counts.
        public let counting: Period
        /// All active periods, starting with the one that counts.
        public let active: [Period]
    }

    /// A period that gives access.
    public struct Period: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// The app it belongs to.
        public let bundleId: String?
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`.
        public let expiresDate: Instant
        /// The first instant with access.
        public let validFrom: Instant
        /// The end of the access, exclusive.
        public let validTo: Instant
        /// `trial`, `intro`, `offer`, `paid` or `grace`.
        public let kind: String
        /// Whether it was bought by a family member.
        public let familyShared: Bool
        /// The events it is based on.
        public let positions: [Position]
    }
}

/// A subscription that is joined to several customers, and so counts for none of them.
public struct AmbiguousSubscription: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// The customers.
    public let customers: [String]
}

/// A question about access, for any customer or subscription.
struct AccessQuestion: Sendable {
    /// The instant asked about.
    let instant: Instant
    /// The access that is asked about.
    let scope: AccessScope
    /// How much of the log is used.
    let knownAt: KnownAt
    /// What counts as access.
    let policy: PolicyDocument
}

extension Ledger {
    /// Whether a customer has access at an instant, over all their subscriptions and one-time
    /// purchases in all apps.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - scope: The access that is asked about; a group by its identifier or by its name in the
    ///     catalog.
    ///   - knownAt: How much of the log is used.
    ///   - policy: What counts as access, and which versions of the catalog count.
    ///   - sandbox: The customers for whom sandbox purchases count if production gives no access.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` if nothing is known of the customer, or no catalog contains the
    ///   product or the group; `PolicyError`; `EventLogError`; `CatalogError`.
    public func access(
        of subject: SubjectID,
        at instant: Instant,
        to scope: AccessScope = .anything,
        knownAt: KnownAt = .latest,
        under policy: PolicyDocument = PolicyDocument(),
        sandbox: SandboxPolicy = .never
    ) async throws -> AccessDocument {
        let question = AccessQuestion(
            instant: instant,
            scope: scope,
            knownAt: knownAt,
            policy: policy
        )
        return try await log.onOneConnection {
            try await answer(question, of: subject, counting: sandbox)
        }
    }

    /// The answer for one environment.
    func answer(
        _ question: AccessQuestion,
        of subject: SubjectID
    ) async throws -> AccessDocument {
        let known = try await known(
            of: subject,
            at: question.instant,
            knownAt: question.knownAt
        )
        let judged = try known.under(question.policy)
        return AccessDocument(
            judged,
            at: question.instant,
            to: try KnownProducts(judged).known(question.scope)
        )
    }
}

extension AccessDocument {
    fileprivate init(_ known: Known, at instant: Instant, to scope: AccessScope) {
        let entitlement = known.entitlement
        let active = entitlement.active(at: instant, to: scope)
        let spans = entitlement.intervals(of: scope)
        let possessions = entitlement.owned(at: instant, to: scope)
        id = known.id
        environment = known.environment
        at = instant
        access = !active.isEmpty || !possessions.isEmpty
        until = possessions.isEmpty ? spans.first { $0.contains(instant) }?.upperBound : nil
        products = (active.map(\.period.productId) + possessions.map(\.productId)).uniqueByBytes
        let asked = Set(active)
        let found = entitlement.groups(at: instant).filter {
            $0.active.contains(where: asked.contains)
        }
        groups = found.map { Group($0, known.grounds) }
        intervals = spans.map(IntervalValue.init)
        subscriptions = known.grounds.subscriptions
        ambiguous = known.grounds.ambiguous
        linksNotInForce = known.grounds.linksNotInForce
        owned = possessions.map { OneTimePurchaseDocument($0) }
        notJudged = entitlement.notJudged(at: instant, to: scope).map {
            OneTimePurchaseDocument($0)
        }
        revoked = entitlement.revoked(at: instant, to: scope).map {
            OneTimePurchaseDocument($0)
        }
        erasures = known.erasures
    }
}

extension AccessDocument.Group {
    fileprivate init(_ group: GroupAccess, _ grounds: AnswerGrounds) {
        subscriptionGroupIdentifier = group.group.identifier
        counting = AccessDocument.Period(group.counting, grounds)
        active = group.active.map { AccessDocument.Period($0, grounds) }
    }
}

extension AccessDocument.Period {
    fileprivate init(_ access: AccessPeriod, _ grounds: AnswerGrounds) {
        let row = access.period
        originalTransactionId = row.stream.originalTransactionId
        bundleId = grounds.bundleId(of: row.stream)
        productId = row.productId
        purchaseDate = row.purchaseDate
        expiresDate = row.expiresDate
        validFrom = row.validFrom
        validTo = row.validTo
        kind = row.kind.rawValue
        familyShared = access.isFamilyShared
        positions = row.positions
    }
}

extension SubscriptionGroup {
    /// Apple's identifier; nil if no format named it.
    var identifier: String? {
        switch self {
        case .identified(let identifier): identifier
        case .ofStream: nil
        }
    }
}

extension [String] {
    /// The strings without duplicates, in the order of their bytes.
    fileprivate var uniqueByBytes: [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.reduce(into: []) { unique, id in
            if unique.last.map({ !$0.utf8.elementsEqual(id.utf8) }) ?? true { unique.append(id) }
        }
    }
}
