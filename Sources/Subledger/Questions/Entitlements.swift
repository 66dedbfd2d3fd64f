public import EventLog
public import Events
internal import Foundation
internal import Projections

/// Which of the app's entitlements a customer has.
package enum EntitlementsQuestion: Question {
    package static let name = "entitlements"
    package static let abstract = "Which entitlements of your app a customer has, and until when."
    package static let discussion = """
        The catalog in force at the instant decides which products and subscription groups grant \
        an entitlement: `subledger catalog import`. An entitlement is active exactly if `access` \
        says so for one of them. Of several subscriptions that grant it, the best one is shown: \
        one that gives access first, then the one that ends last. A customer of whom nothing is \
        known has no active entitlement.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [:]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> EntitlementsDocument {
        try await ledger.entitlements(
            of: asked.subject,
            at: asked.at ?? asked.now,
            knownAt: asked.knownAt,
            sandbox: asked.sandbox
        )
    }

    package static func notes(_ answer: EntitlementsDocument) -> [String] {
        var notes: [String] = []
        if !answer.isKnown {
            notes.append("nothing is known of \(answer.customer) in \(answer.environment)")
        }
        if answer.entitlements.isEmpty {
            notes.append(
                "the catalog defines no entitlements; `subledger catalog import` imports them"
            )
        }
        return notes
    }

    package static func text(_ answer: EntitlementsDocument, _ asked: QuestionInput) -> [Block] {
        let head = "\(answer.customer) · \(answer.environment) · \(answer.asOf.zonedClock)"
        let sandbox = answer.sandboxRule.map { [Block.line("sandbox " + $0.text)] } ?? []
        guard !answer.entitlements.isEmpty else {
            return [.line(head)] + sandbox + [.line("no entitlements")]
        }
        let rows = answer.entitlements.sorted { $0.key < $1.key }.map { name, status in
            [
                name, status.isActive ? "active" : "–", status.state,
                status.until?.clock ?? (status.isActive ? "without end" : ""),
                status.willRenew.map { $0 ? "yes" : "no" } ?? "",
                status.productId ?? "", status.because.marks,
            ]
        }
        let header = ["entitlement", "", "state", "until", "renews", "product", "because of"]
        return [.line(head)] + sandbox + [.table(header, rows)]
    }
}

/// Which of the app's entitlements a customer has.
public struct EntitlementsDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let customer: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The instant asked about.
    public let asOf: Instant
    /// Whether anything is known of the customer in the environment.
    public let isKnown: Bool
    /// Every entitlement of the catalog in force at the instant, by name.
    public private(set) var entitlements: [String: Status]
    /// The rule by which a sandbox purchase grants one in production; nil if none does.
    public private(set) var sandboxRule: SandboxRule?

    /// Whether the customer has one entitlement.
    public struct Status: Codable, Hashable, Sendable {
        /// Whether they have it at the instant.
        public let isActive: Bool
        /// The end of the access as far as it is known, in the past if it is not active; nil if it
        /// has no end, or never began.
        public let until: Instant?
        /// Whether the subscription that decides is set to renew; nil if Apple did not state it.
        public let willRenew: Bool?
        /// The product that decides; nil if none was bought.
        public let productId: String?
        /// `active`, `gracePeriod`, or `owned` for a non-consumable; without access `billingRetry`,
        /// `expired`, `refunded`, `revoked`, `assignmentEnded`, `upgraded` (to a product that does
        /// not grant it), `notYetBought`, `neverBought`, `notJudged` (a purchase that only the app
        /// can judge), `erased`, or `notKnownYet` if nothing is known of the customer.
        public let state: String
        /// The events that decide.
        public let because: [Position]
    }

    /// Identifies the content, whatever the instant: it changes only if an entitlement does.
    package func contentTag() throws -> String {
        let timeless = EntitlementsDocument(
            customer: customer,
            environment: environment,
            asOf: .epoch,
            isKnown: isKnown,
            entitlements: entitlements,
            sandboxRule: sandboxRule
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let digest = Digest.of([UInt8](try encoder.encode(timeless))).hex
        return String(digest.prefix(EntitlementsDocument.tagDigits))
    }

    // 128 bits.
    private static let tagDigits = 32
}

extension Ledger {
    /// Which of the app's entitlements a customer has at an instant.
    ///
    /// The judgement is that of `access`: an entitlement is active exactly if one of the products
    /// and groups that grant it gives access.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant asked about.
    ///   - knownAt: How much of the log, and which versions of the catalog, are used.
    ///   - sandbox: The customers for whom sandbox purchases count where production gives no access.
    /// - Returns: The answer; no entitlement is active if nothing is known of the customer, and
    ///   there is none if the catalog defines none.
    /// - Throws: `QuestionError` if the id is ambiguous, or `knownAt` names a position that does not
    ///   exist; `EventLogError`; `CatalogError`.
    public func entitlements(
        of subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt = .latest,
        sandbox: SandboxPolicy = .never
    ) async throws -> EntitlementsDocument {
        var document = try await entitlements(subject, at: instant, knownAt: knownAt)
        guard document.environment == .production,
            let rule = sandbox.rule(for: subject.id, at: instant)
        else { return document }
        var tested = subject
        tested.environment = .sandbox
        document.add(try await entitlements(tested, at: instant, knownAt: knownAt), by: rule)
        return document
    }

    // Inlined, it crashes the optimiser of Swift 6.3.1.
    @inline(never)
    private func entitlements(
        _ subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> EntitlementsDocument {
        let known = try await known(of: subject, at: instant, knownAt: knownAt, orUnknown: true)
        return EntitlementsDocument(try known.under(PolicyDocument()), at: instant)
    }
}

extension EntitlementsDocument {
    fileprivate init(_ known: Known, at instant: Instant) {
        let access = known.entitlement
        customer = known.id
        environment = known.environment
        asOf = instant
        isKnown = known.isKnown
        let defined = known.catalogs.version(at: instant)?.entitlements ?? [:]
        entitlements = defined.mapValues { grants in
            let verdict = access.verdict(on: grants.scopes, at: instant, isKnown: known.isKnown)
            return Status(verdict, known, at: instant)
        }
        sandboxRule = nil
    }

    /// Takes over what only the sandbox grants.
    fileprivate mutating func add(_ tested: EntitlementsDocument, by rule: SandboxRule) {
        for (name, status) in tested.entitlements
        where status.isActive && entitlements[name]?.isActive == false {
            entitlements[name] = status
            sandboxRule = rule
        }
    }
}

extension EntitlementsDocument.Status {
    fileprivate init(_ verdict: EntitlementVerdict, _ known: Known, at instant: Instant) {
        let (answer, period) = (verdict.answer, verdict.answer.period)
        let timeline = known.timelines.first { $0.stream == period?.stream }
        let renewal = timeline.flatMap { RenewalStates($0).state(at: instant) }
        isActive = answer.hasAccess
        until = verdict.until
        productId = period?.productId ?? answer.oneTimePurchase?.productId
        because = period?.positions ?? answer.oneTimePurchase?.positions ?? []
        switch answer {
        case .owned: state = "owned"
        case .access(let period): state = period.kind == .grace ? "gracePeriod" : "active"
        case .none(.expired, _) where renewal?.status == .billingRetry: state = "billingRetry"
        case .none(.notKnownYet, _) where known.erasures.contains(where: \.tookEverything):
            state = "erased"
        case .none(let reason, _), .notOwned(let reason, _): state = reason.rawValue
        }
        // Nor does a subscription renew for a customer from whom a link takes it.
        let isOver =
            !isActive && state != "billingRetry" || renewal?.charge == .closed
            || period.map { known.tenureEnds[$0.stream] != nil } ?? true
        willRenew = isOver ? false : renewal?.isAutoRenewOn
    }
}
