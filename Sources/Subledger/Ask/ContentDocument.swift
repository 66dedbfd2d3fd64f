public import EventLog
public import Events
public import Projections

/// Which issues of a magazine a customer has unlocked, by the magazine rule: the newest issue when
/// a run of periods began, and each issue published while it lasted.
public struct ContentDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The instant asked about.
    public let at: Instant
    /// The uninterrupted times in which the customer was subscribed.
    public let runs: [Range<Instant>]
    /// The issues that had been published.
    public let issues: [Line]
    /// What was erased of the subscriptions.
    public let erasures: [ErasureMark]

    /// An issue that had been published.
    public struct Line: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// When it was published.
        public let publishedAt: Instant
        /// Whether the customer has it.
        public let unlocked: Bool
        /// `newestAtStart` or `published`; nil if it is locked.
        public let reason: String?
        /// The run that unlocks it.
        public let run: Range<Instant>?
    }
}

extension Ledger {
    /// Which of some issues a customer has unlocked.
    ///
    /// - Parameters:
    ///   - issues: The issues, with their publication dates.
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - scope: The access that unlocks them.
    ///   - knownAt: How much of the log is used.
    ///   - policy: What counts as access. Unless it sets `refundIsRetroactive`, a refunded purchase
    ///     unlocks nothing, as if it had never been bought.
    /// - Returns: The answer.
    /// - Throws: As `access`.
    public func content(
        _ issues: [Issue],
        of subject: SubjectID,
        at instant: Instant,
        to scope: AccessScope = .anything,
        knownAt: KnownAt = .latest,
        under policy: PolicyDocument = PolicyDocument()
    ) async throws -> ContentDocument {
        let known = try await known(of: subject, at: instant, knownAt: knownAt).under(policy)
        let access = ContentAccess(
            known.entitlement,
            to: try KnownProducts(known).known(scope),
            issues: issues,
            at: instant,
            refundIsRetroactive: policy.refundIsRetroactive ?? true
        )
        return ContentDocument(
            id: known.id,
            environment: known.environment,
            at: instant,
            runs: access.runs,
            issues: access.issues.map(ContentDocument.Line.init),
            erasures: known.erasures
        )
    }
}

extension ContentDocument.Line {
    fileprivate init(_ verdict: ContentAccess.Verdict) {
        name = verdict.issue.name
        publishedAt = verdict.issue.publishedAt
        unlocked = verdict.unlocked != nil
        switch verdict.unlocked {
        case .newestAtStart(let run)?: (reason, self.run) = ("newestAtStart", run)
        case .published(let run)?: (reason, self.run) = ("published", run)
        case nil: (reason, run) = (nil, nil)
        }
    }
}
