public import Events
public import EventLog
internal import Projections

/// Why a customer did or did not have access at an instant, and what the ledger answered then.
public struct ExplanationDocument: Codable, Hashable, Sendable {
    /// Always `ledger.explain/3`.
    public let schema: String
    /// The answer, its reason and when the ledger learned it, in a few sentences for a ticket.
    public let summary: String
    /// The id that was asked for.
    public let customer: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The subscriptions that the answer is based on.
    public let originalTransactionIds: [String]
    /// Why each of them counts; empty if one subscription was asked for alone.
    public let subscriptions: [SubscriptionGround]
    /// The product whose access was asked for; nil for any.
    public let entitlement: String?
    /// The instant asked about.
    public let at: Instant
    /// How much of the log was requested; nil for all.
    public let askedKnownAt: String?
    /// The answer for the instant, with everything that is known.
    public let entitled: Answer
    /// The answer for the instant, as known at that instant; without a value of `access` if the
    /// ledger cannot have been asked then.
    public let served: Answer
    /// How long the two answers differ around the instant.
    public let difference: Difference
    /// Refunds of the deciding periods that arrived after those periods had ended.
    public let refundsAfterEnd: [Refund]
    /// The events that produced the answers, in the order of Apple's dates.
    public let because: [Cause]
    /// The events without which the answer would be the opposite.
    public let changesIf: [Change]
    /// What counted as access, in the form that `rebuild --with` accepts.
    public let policy: PolicyDocument
    /// The version of the catalog in force at the instant; nil if there is none.
    public let catalogVersion: Int?
    /// The projection whose rows produce the answer.
    public let projection: ProjectionVersion
    /// Links to the customer that were not in force at the instant; the subscriptions they name do
    /// not count.
    public let linksNotInForce: [LinkNotInForce]
    /// Erasures that removed something about the subscriptions.
    public let erasures: [ErasureMark]
    /// The rule by which a sandbox purchase gives access in production; nil if none does, and
    /// always nil without a `SandboxPolicy`.
    public let sandboxRule: SandboxRule?
    /// What the answer can be checked against later: the heads of the chain that it is based on.
    public let proof: Proof

    /// The value of `schema`.
    public static let schema = "ledger.explain/3"

    /// One of the two answers.
    public struct Answer: Codable, Hashable, Sendable {
        /// Whether there is access; null in `served` if the ledger cannot have been asked then
        /// (`difference.kind` is `notAsked`), and in both answers if everything known was erased.
        public let access: Bool?
        /// Why there is none: `notKnownYet`, `neverBought`, `notYetBought`, `expired`, `refunded`,
        /// `revoked`, `upgraded` or `notJudged`; `erased` or `notAsked` if `access` is null; null
        /// if there is access.
        public let reason: String?
        /// What the answer was made from.
        public let knownAt: Knowledge
        /// The period that decides; nil if none does.
        public let period: Period?
        /// The one-time purchase that decides; nil if none does.
        public let oneTimePurchase: OneTimePurchaseDocument?
    }

    /// How much of the log an answer was made from.
    public struct Knowledge: Codable, Hashable, Sendable {
        /// The last position used, as questions accept it.
        public let position: PropertyValue
        /// The time of that position; nil if nothing was recorded by then.
        public let time: Instant?
    }

    /// A period with its subscription, without its terms.
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

    /// How long the two answers differ around the instant.
    public struct Difference: Codable, Hashable, Sendable {
        /// `none`, `wronglyDenied`, `wronglyGranted`, or `notAsked` if the ledger cannot have been
        /// asked then.
        public let kind: String
        /// Why it cannot: `beforeLedger` or `imported`; nil if it can.
        public let notAsked: String?
        /// The first instant at which the answers differ.
        public let from: Instant?
        /// The first instant at which they no longer differ.
        public let to: Instant?
        /// The length of the difference, in seconds.
        public let seconds: Int64?
        /// What the ledger learned too late.
        public let cause: String?
    }

    /// A refund that returned money without ending access.
    public struct Refund: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// When it was refunded.
        public let refunded: Instant?
        /// `full`, `prorated`, `items`, `seats`, `family_revoke`, `assignment_ended`, `bundled`,
        /// `replaced` or `untyped`.
        public let kind: String?
        /// The amount refunded, in milliunits.
        public let refundedMilliunits: Int64?
        /// Its currency.
        public let currency: String?
        /// The events it is based on.
        public let positions: [Position]
    }

    /// An event that contributed to the answers.
    public struct Cause: Codable, Hashable, Sendable {
        /// The event.
        public let position: Position
        /// The subscription.
        public let originalTransactionId: String
        /// What it did: `opened`, `renewed`, `grace`, `ended`, `restored`, `extended`, `corrected`.
        public let role: String
        /// Apple's `notificationType`; nil if no notification brought the event.
        public let type: String?
        /// Apple's `subtype`.
        public let subtype: String?
        /// When it took effect.
        public let occurredAt: Instant
        /// Apple's date for the statement.
        public let signedAt: Instant
        /// Whether that date is only a lower bound, because the format has no date of its own.
        public let signedAtIsLowerBound: Bool
        /// When the log recorded it, on the ledger's clock.
        public let recordedAt: Instant
        /// Seconds from Apple's date until the log recorded it.
        public let lagSeconds: Int64
        /// The channel it came by.
        public let source: String?
    }

    /// What the answer would be without one event.
    public struct Change: Codable, Hashable, Sendable {
        /// The event that is left out.
        public let without: Position
        /// The answer without it.
        public let access: Bool
    }

    /// A projection and its version.
    public struct ProjectionVersion: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The version of its fold.
        public let version: Int?
    }

    /// The heads of the chain that an answer is based on.
    public struct Proof: Codable, Hashable, Sendable {
        /// The digest of the head, after `sha256:`; nil if there are several.
        public let chainHead: String?
        /// The last position used.
        public let verifiedTo: PropertyValue
        /// The newest commit of each lane used.
        public let heads: [VerificationReport.Head]
    }
}

extension ExplanationDocument {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(summary, forKey: .summary)
        try container.encode(customer, forKey: .customer)
        try container.encode(environment, forKey: .environment)
        try container.encode(originalTransactionIds, forKey: .originalTransactionIds)
        try container.encode(subscriptions, forKey: .subscriptions)
        try container.encode(entitlement, forKey: .entitlement)
        try container.encode(at, forKey: .at)
        try container.encode(askedKnownAt, forKey: .askedKnownAt)
        try container.encode(entitled, forKey: .entitled)
        try container.encode(served, forKey: .served)
        try container.encode(difference, forKey: .difference)
        try container.encode(refundsAfterEnd, forKey: .refundsAfterEnd)
        try container.encode(because, forKey: .because)
        try container.encode(changesIf, forKey: .changesIf)
        try container.encode(policy, forKey: .policy)
        try container.encode(catalogVersion, forKey: .catalogVersion)
        try container.encode(projection, forKey: .projection)
        try container.encode(linksNotInForce, forKey: .linksNotInForce)
        try container.encode(erasures, forKey: .erasures)
        try container.encodeIfPresent(sandboxRule, forKey: .sandboxRule)
        try container.encode(proof, forKey: .proof)
    }
}

extension ExplanationDocument.Answer {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(access, forKey: .access)
        try container.encode(reason, forKey: .reason)
        try container.encode(knownAt, forKey: .knownAt)
        try container.encode(period, forKey: .period)
        try container.encode(oneTimePurchase, forKey: .oneTimePurchase)
    }
}

extension ExplanationDocument.Cause {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(originalTransactionId, forKey: .originalTransactionId)
        try container.encode(role, forKey: .role)
        try container.encode(type, forKey: .type)
        try container.encode(subtype, forKey: .subtype)
        try container.encode(occurredAt, forKey: .occurredAt)
        try container.encode(signedAt, forKey: .signedAt)
        try container.encode(signedAtIsLowerBound, forKey: .signedAtIsLowerBound)
        try container.encode(recordedAt, forKey: .recordedAt)
        try container.encode(lagSeconds, forKey: .lagSeconds)
        try container.encode(source, forKey: .source)
    }
}
