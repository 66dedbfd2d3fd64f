public import Events

/// The owner of a subscription, identified in one of two ways.
public enum Owner: Hashable, Sendable {
    /// The app's own name for a customer, as a link states it.
    case customer(String)
    /// The account token that the app gave Apple with the purchase.
    case appAccountToken(String)

    /// The name or the token.
    public var name: String {
        switch self {
        case .customer(let name), .appAccountToken(let name): name
        }
    }

    /// Equal when of one kind and of the same UTF-8, whatever Unicode holds equivalent; tokens also
    /// where only the case of a UUID's letters differs.
    public static func == (left: Owner, right: Owner) -> Bool {
        switch (left, right) {
        case (.customer(let first), .customer(let second)): byBytes(first, second) == nil
        case (.appAccountToken(let first), .appAccountToken(let second)):
            TokenValue.areEqual(first, second)
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .customer(let name): hasher.combine(FieldValue.text(name))
        case .appAccountToken(let token): hasher.combine(TokenValue(token))
        }
    }
}

/// A span of time in which a subscription had one owner, or none.
public struct Ownership: Sendable {
    /// The owner; nil if there was none.
    public let owner: Owner?
    /// Its start; nil where it has none: before the first claim.
    public let from: Instant?
    /// Its end, not included; nil where none is known.
    public let to: Instant?
    /// The offset of the event that decides it; nil for nobody's before the first claim.
    public let offset: Int64?
}

/// The operator's claim of a subscription for a customer, from one link to the end of it.
public struct LinkClaim: Sendable {
    /// The app's own name for the customer.
    public let customer: String
    /// The instant that the statement names.
    public let from: Instant
    /// When it ended, by an unlink, not included; nil where it has not.
    ///
    /// Of a contested claim the end of the contest: the unlink that ended the claim it met.
    public let to: Instant?
    /// Who stated it, as the cited event says; empty where nobody did.
    ///
    /// The same link stated again by somebody else is no news, so that, like the position, this may
    /// depend on what came first.
    public let statedBy: String
    /// Why, as the cited event says; empty for no reason given.
    public let reason: String
    /// The event that states it.
    public let offset: Int64
    /// The end of the claim: the event that states the unlink; nil where it has not ended.
    public let endOffset: Int64?
    /// Who had the subscription already; nil where the claim was not contested.
    ///
    /// A contested claim moves no ownership: it is reported, and waits for somebody to unlink.
    public let contests: String?

    /// Whether another customer already had it.
    public var isContested: Bool { contests != nil }
}

/// An app account token of a subscription, from one claim to the next.
public struct TokenClaim: Sendable {
    /// The token, as Apple wrote it.
    public let token: String
    /// Since when: the start of the purchase that carries it, or the as-of of the statement that
    /// changed it.
    public let from: Instant
    /// When the next token took its place, not included; nil where none did.
    public let to: Instant?
    /// The event that states it.
    public let offset: Int64
}
