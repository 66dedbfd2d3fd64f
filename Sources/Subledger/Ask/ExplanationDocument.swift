public import Events
internal import EventLog
internal import Projections

/// Why a customer had access at an instant, or had none, and what was answered then.
public struct ExplanationDocument: Codable, Hashable, Sendable {
    /// Always `ledger.explain/2`.
    public let schema: String
    /// The answer, its reason and when the ledger learnt it, in a few sentences for a ticket.
    public let summary: String
    /// The id that was asked for.
    public let customer: String
    /// Where the purchases were made.
    public let environment: Environment
    /// The subscriptions that the answer rests on.
    public let originalTransactionIds: [String]
    /// Why each of them counts; none where one was asked for alone.
    public let subscriptions: [SubscriptionGround]
    /// Only access by this product was asked for; nil for any.
    public let entitlement: OrNull<String>
    /// The instant asked about.
    public let at: Instant
    /// How much of the log was asked for; nil for all.
    public let askedKnownAt: OrNull<String>
    /// The answer about the instant as known in the end.
    public let entitled: Answer
    /// The answer about the instant as known at it.
    public let served: Answer
    /// How long the two differ around it.
    public let difference: Difference
    /// Refunds of the periods that decide, which came when those had ended.
    public let refundsAfterEnd: [Refund]
    /// The events that made the answers, in the order in which Apple said them.
    public let because: [Cause]
    /// The events without which the answer would be the opposite one.
    public let changesIf: [Change]
    /// What counted as access: as `rebuild --with` takes it.
    public let policy: PolicyDocument
    /// The version of the catalog that held at the instant; nil where there is none.
    public let catalogVersion: OrNull<Int>
    /// The projection whose rows the answer is made of.
    public let projection: ProjectionVersion
    /// Links to the customer that did not hold at the instant: what they name does not count.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of the subscriptions.
    public let erasures: [ErasureMark]
    /// Why a purchase of the sandbox gives access in production; nil where none does, as always
    /// without a `SandboxPolicy`.
    public let sandboxRule: SandboxRule?
    /// What the answer can be held against later: the head of the chain that it rests on.
    public let proof: Proof

    /// The word of this document.
    public static let schema = "ledger.explain/2"

    /// One of the two answers.
    public struct Answer: Codable, Hashable, Sendable {
        /// Whether there is access.
        public let access: Bool
        /// Why there is none: `notKnownYet`, `neverBought`, `notYetBought`, `expired`, `refunded`,
        /// `revoked`, `upgraded` or `notJudged`; nil where there is.
        public let reason: OrNull<String>
        /// What the answer was made from.
        public let knownAt: Knowledge
        /// The period that decides; nil where none does.
        public let period: OrNull<Period>
        /// The one-time purchase that decides; nil where none does.
        public let oneTimePurchase: OrNull<OneTimePurchaseDocument>
    }

    /// How much of the log an answer was made from.
    public struct Knowledge: Codable, Hashable, Sendable {
        /// Up to where, as questions take it.
        public let position: PropertyValue
        /// The instant of that; nil where nothing was recorded by then.
        public let time: Instant?
    }

    /// The period that decides an answer.
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
        /// The end of the access, which is not part of it.
        public let validTo: Instant
        /// Why it ended; `open` where it had not ended when Apple last spoke.
        public let endReason: String
        /// The events that it rests on.
        public let positions: [PositionValue]
    }

    /// How long the two answers differ around the instant.
    public struct Difference: Codable, Hashable, Sendable {
        /// `none`, `wronglyDenied`, `wronglyGranted`, or `notAsked` where the ledger cannot have
        /// been asked then.
        public let kind: String
        /// Why not: `beforeLedger` or `imported`; nil where it can.
        public let notAsked: String?
        /// The first instant at which they differ so.
        public let from: Instant?
        /// The first at which they do not any more.
        public let to: Instant?
        /// How long that is.
        public let seconds: Int64?
        /// What was learnt too late.
        public let cause: String?
    }

    /// A refund that took back money, and no access.
    public struct Refund: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// When it was given back.
        public let refunded: Instant?
        /// `full`, `prorated`, `items`, `family_revoke`, `replaced` or `untyped`.
        public let kind: String?
        /// What was given back, in milliunits.
        public let refundedMilliunits: Int64?
        /// Its currency.
        public let currency: String?
        /// The events that it rests on.
        public let positions: [PositionValue]
    }

    /// An event that made the answers.
    public struct Cause: Codable, Hashable, Sendable {
        /// The event.
        public let position: PositionValue
        /// The subscription.
        public let originalTransactionId: String
        /// What it did: `opened`, `renewed`, `grace`, `ended`, `restored`, `extended`, `corrected`.
        public let role: String
        /// Apple's `notificationType`; nil where no notification brought it.
        public let type: OrNull<String>
        /// Apple's `subtype`.
        public let subtype: OrNull<String>
        /// When it took effect.
        public let occurredAt: Instant
        /// When Apple said it.
        public let signedAt: Instant
        /// Whether that is only a lower bound, because the format has no date of its own.
        public let signedAtIsLowerBound: Bool
        /// When the log learnt of it, on the ledger's clock.
        public let recordedAt: Instant
        /// How long after it was said.
        public let lagSeconds: Int64
        /// The channel it came by.
        public let source: OrNull<String>
    }

    /// What one event decides alone.
    public struct Change: Codable, Hashable, Sendable {
        /// The event that is left out.
        public let without: PositionValue
        /// What would be the answer without it.
        public let access: Bool
    }

    /// A projection and its version.
    public struct ProjectionVersion: Codable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// The version of its fold.
        public let version: Int?
    }

    /// The heads of the chain that an answer rests on.
    public struct Proof: Codable, Hashable, Sendable {
        /// The digest of the one head, after `sha256:`; nil where there are several.
        public let chainHead: String?
        /// Up to where the log was used.
        public let verifiedTo: PropertyValue
        /// The newest commit of each lane that was used.
        public let heads: [ChainHead]
    }
}

/// The newest commit of a lane.
public struct ChainHead: Codable, Hashable, Sendable {
    /// The lane.
    public let lane: Int
    /// Offset of its newest event.
    public let offset: Int64
    /// Its number.
    public let commit: Int64
    /// SHA-256 of the commit, which covers all before it, in hexadecimal.
    public let digest: String
}

extension ChainHead {
    init(_ mark: CommitMark) {
        self.init(
            lane: mark.commit.lane,
            offset: mark.offset,
            commit: mark.commit.number,
            digest: mark.digest.hex
        )
    }
}
