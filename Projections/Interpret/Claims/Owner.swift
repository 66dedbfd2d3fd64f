public import Events

/// The owner of a subscription, identified in one of two ways.
public enum Owner: Hashable, Sendable {
    /// The app's own id for a customer, as a link states it.
    case customer(String)
    /// The account token that the app passed to Apple with the purchase.
    case appAccountToken(String)

    /// The id or the token.
    public var name: String {
        switch self {
        case .customer(let name), .appAccountToken(let name): name
        }
    }

    /// Equal if of the same kind and with the same UTF-8, ignoring Unicode equivalence; tokens also
    /// if only the case of a UUID's letters differs.
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

/// An interval in which a subscription had one owner, or none.
public struct Ownership: Sendable {
    /// The owner; nil if there was none.
    public let owner: Owner?
    /// Its start; nil before the first claim, when it has none.
    public let from: Instant?
    /// Its end, exclusive; nil if none is known.
    public let to: Instant?
    /// The offset of the event that decides it; nil before the first claim, when there is no owner.
    public let offset: Int64?
}

/// The operator's claim to a subscription for a customer, from one link until it ends.
public struct LinkClaim: Sendable {
    /// The app's own id for the customer.
    public let customer: String
    /// The instant that the statement names.
    public let from: Instant
    /// When an unlink ended it, exclusive; nil if it has not ended.
    ///
    /// For a contested claim, the end of the contest: the unlink that ended the claim it conflicted
    /// with.
    public let to: Instant?
    /// Who stated it, according to the cited event; empty if not stated.
    ///
    /// The same link stated again by another person is not a new event, so this, like the position,
    /// may depend on the order of arrival.
    public let statedBy: String
    /// The reason, according to the cited event; empty if none was given.
    public let reason: String
    /// The event that states it.
    public let offset: Int64
    /// The event that states the unlink which ended the claim; nil if it has not ended.
    public let endOffset: Int64?
    /// The customer who already had the subscription; nil if the claim was not contested.
    ///
    /// A contested claim moves no ownership: it is reported until an operator unlinks one of them.
    public let contests: String?

    /// Whether another customer already had it.
    public var isContested: Bool { contests != nil }
}

/// An app account token of a subscription, from one claim to the next.
public struct TokenClaim: Sendable {
    /// The token, as Apple wrote it.
    public let token: String
    /// When it begins: the start of the purchase that carries it, or the as-of of the statement
    /// that changed it.
    public let from: Instant
    /// When the next token replaced it, exclusive; nil if none did.
    public let to: Instant?
    /// The event that states it.
    public let offset: Int64
}
