public import EventLog
public import Events
package import Projections

/// An explanation, and what is printed with it: the source of its document, text and picture.
package struct ExplanationAnswer: Sendable {
    package let customer: Known
    package let product: String?
    package let explanation: Explanation
    /// How much of the log was requested; `now` records how much was used.
    package let askedKnownAt: KnownAt
    /// The same as questions accept it.
    package let askedText: String
    package let now: KnowledgeMarks
    package let then: KnowledgeMarks
    package let evidence: [Position: EvidenceSummary]
    /// For each subscription that was not known to be the customer's at the instant, when that
    /// became known.
    let connections: [StreamID: Instant]
    /// The catalog, with its past versions.
    let catalogs: CatalogHistory
    /// When the ledger made its first commit; nil if there is none.
    package let firstCommit: Instant?
    /// When the question was asked, by our clock.
    package let askedAt: Instant
    /// The rule by which a sandbox purchase gives access in production; nil if none does.
    package var sandboxRule: SandboxRule?
    /// Whether production was asked about, and only the environment of this answer knows the id.
    var isElsewhere = false

    /// How long ago, in milliseconds, an instant may be that counts as now: the time between
    /// writing a question without an instant, and its answer.
    private static let nowMillisecondsMax: Int64 = 60_000

    /// The version of the catalog in force at the instant; nil if there is none.
    package var catalogVersion: Int? { catalogs.version(at: explanation.at)?.version }

    /// Whether the question is about the present, so "at the time" is now.
    package var isAboutNow: Bool {
        let age = askedAt.milliseconds - explanation.at.milliseconds
        return (0...ExplanationAnswer.nowMillisecondsMax).contains(age)
    }

    /// Whether everything known of the subscriptions was erased, so neither answer is known.
    package var isErased: Bool {
        guard case .none(_, nil) = explanation.entitled, explanation.rowsNow.isEmpty else {
            return false
        }
        return customer.erasures.contains(where: \.tookEverything)
    }

    /// When the ledger learned the answer, yes or no, that it has given since; nil if it gave the
    /// same answer at the instant.
    package var learnedAnswer: Instant? {
        let hasAccess = explanation.entitled.hasAccess
        guard explanation.served.hasAccess != hasAccess else { return nil }
        return explanation.answers.reversed().prefix { $0.answer.hasAccess == hasAccess }
            .last?.knownFrom
    }

    /// Whether nothing dates the content of an event, so its `signedAt` is only a lower bound.
    package func isUndated(_ event: DecisiveEvent) -> Bool {
        let history = customer.histories.first { $0.stream == event.stream }
        let fact = history?.events.first { $0.position == event.position }?.fact
        return fact?.isUndated(in: evidence[event.position]) ?? false
    }
}

extension Ledger {
    /// Why a customer did or did not have access at an instant, and what the ledger answered then.
    ///
    /// - Parameters:
    ///   - subject: The customer, or one subscription alone.
    ///   - instant: The instant asked about.
    ///   - product: Only access to this product; nil for any.
    ///   - knownAt: How much of the log is used.
    ///   - sandbox: The customers for whom sandbox purchases count if production gives no access;
    ///     the sandbox is explained if it decides.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`, `CatalogError`.
    public func explain(
        _ subject: SubjectID,
        at instant: Instant,
        product: String? = nil,
        knownAt: KnownAt = .latest,
        sandbox: SandboxPolicy = .never
    ) async throws -> ExplanationDocument {
        ExplanationDocument(
            try await explanation(
                of: subject,
                at: instant,
                product: product,
                knownAt: knownAt,
                sandbox: sandbox
            )
        )
    }

    /// The same explanation, as the source of a text and a picture.
    package func explanation(
        of subject: SubjectID,
        at instant: Instant,
        product: String?,
        knownAt: KnownAt,
        askedAs asked: KnownAt? = nil,
        sandbox: SandboxPolicy = .never
    ) async throws -> ExplanationAnswer {
        try await log.inOneSnapshot {
            let used = try await log.wholeCommits(knownAt)
            var subject = subject
            let rule = try await sandboxRule(subject, at: instant, product, knownAt: used, sandbox)
            if rule != nil { subject.environment = .sandbox }
            // A subscription alone is in its own environment, whatever its customer bought, and an
            // environment that was asked about is never replaced.
            let isOpen = rule == nil && !subject.isAlone && subject.environment == nil
            let other = isOpen ? try await elsewhere(subject) : nil
            subject = other ?? subject
            let known = try await recorded(subject, at: instant, knownAt: used)
            var answer = try await explanation(
                of: known,
                product: product,
                at: instant,
                knownAt: used,
                askedAs: asked ?? knownAt,
                connections: try await connections(of: known, to: subject, after: instant)
            )
            answer.sandboxRule = rule
            // A policy for this customer may count the sandbox at another time.
            answer.isElsewhere = other != nil && sandbox.rule(for: subject.id, at: instant) == nil
            return answer
        }
    }

    // The rule by which access comes from the sandbox; nil if it does not.
    private func sandboxRule(
        _ subject: SubjectID,
        at instant: Instant,
        _ product: String?,
        knownAt: KnownAt,
        _ policy: SandboxPolicy
    ) async throws -> SandboxRule? {
        guard policy.rule(for: subject.id, at: instant) != nil else { return nil }
        do {
            return try await access(
                of: subject,
                at: instant,
                to: product.map(AccessScope.product) ?? .anything,
                knownAt: knownAt,
                sandbox: policy
            ).sandboxRule
        } catch let error as QuestionError where error.code == .erased {
            // The explanation itself reports the erasure.
            return nil
        }
    }

    /// The explanation of subscriptions that were read, cut to `knownAt`.
    ///
    /// - Parameters:
    ///   - asked: The subscriptions.
    ///   - product: Only access to this product; nil for any.
    ///   - instant: The instant asked about.
    ///   - knownAt: How much of the log may be used.
    ///   - askedKnownAt: How much was requested, if that ends inside a commit.
    ///   - connections: When each subscription that was not known to be the customer's at the
    ///     instant became known to be.
    ///   - policy: What counts as access.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`; `CatalogError` if the catalog cannot be read back;
    ///   `QuestionError` if no catalog contains the product.
    package func explanation(
        of asked: Known,
        product: String? = nil,
        at instant: Instant,
        knownAt: KnownAt,
        askedAs askedKnownAt: KnownAt? = nil,
        connections: [StreamID: Instant] = [:],
        under policy: AccessPolicy = .current
    ) async throws -> ExplanationAnswer {
        let now = try await KnowledgeMarks(of: asked, knownAt: knownAt, in: log)
        let catalogs = try await catalogs(knownAt: knownAt)
        if let product {
            let timelines = asked.histories.map { Timeline($0.latest) }
            _ = try KnownProducts(timelines, asked.environment, catalogs).known(.product(product))
        }
        let firstCommit = try await log.firstCommittedAt()
        let askedAt = Instant.systemClock()
        return ExplanationAnswer(
            customer: asked,
            product: product,
            explanation: Explanation(
                asked.histories,
                at: instant,
                product: product,
                askedFor: asked.named,
                under: policy,
                catalogs,
                tenures: asked.tenures,
                connections: connections,
                firstCommit: firstCommit,
                now: askedAt
            ),
            askedKnownAt: askedKnownAt ?? knownAt,
            askedText: log.text(askedKnownAt ?? knownAt),
            now: now,
            then: try await KnowledgeMarks(of: asked, at: instant, notAfter: now, in: log),
            evidence: try await asked.evidence(in: log),
            connections: connections,
            catalogs: catalogs,
            firstCommit: firstCommit,
            askedAt: askedAt
        )
    }

    // When each subscription became known to be the customer's; empty for those already known at
    // the instant, and for a subscription that is asked about alone.
    private func connections(
        of asked: Known,
        to subject: SubjectID,
        after instant: Instant
    ) async throws -> [StreamID: Instant] {
        guard !subject.isAlone else { return [:] }
        // Before its first commit, the ledger knew nothing of any customer.
        if let first = try await log.firstCommittedAt(), instant < first { return [:] }
        let named = try await streams(named: subject.id, in: asked.environment)
        let known = try await streams(of: subject, in: asked.environment, at: instant, instant)
        var connections: [StreamID: Instant] = [:]
        let recorded = asked.histories.flatMap { history in
            history.events.map(\.recordedAt) + history.repetitions.map(\.recordedAt)
        }
        let later = Set(recorded.filter { $0 > instant }).sorted()
        var found: [Int: Set<StreamID>] = [:]
        for stream in asked.histories.map(\.stream)
        where !named.contains(stream) && !known.contains(stream) {
            // A binary search finds the recorded time at which the owner became known, because it
            // stayed known.
            var (low, high) = (0, later.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if found[middle] == nil {
                    found[middle] = try await streams(
                        of: subject,
                        in: asked.environment,
                        at: instant,
                        later[middle]
                    )
                }
                if found[middle]?.contains(stream) == true {
                    high = middle
                } else {
                    low = middle + 1
                }
            }
            connections[stream] = later.isEmpty ? nil : later[high]
        }
        return connections
    }

    // The subscriptions of a customer at one instant, as known at another.
    private func streams(
        of subject: SubjectID,
        in environment: StoreEnvironment,
        at instant: Instant,
        _ knowledge: Instant
    ) async throws -> Set<StreamID> {
        let found = try await subscriptions(
            of: subject,
            in: environment,
            at: instant,
            knownAt: .time(knowledge)
        )
        return Set(found.streams.map(\.stream))
    }
}
