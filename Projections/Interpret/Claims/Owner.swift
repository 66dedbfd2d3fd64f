package import Events

/// The owner of a subscription, identified in one of two ways.
package enum Owner: Hashable, Sendable {
    /// The app's own id for a customer, as a link states it.
    case customer(String)
    /// The account token that the app passed to Apple with the purchase.
    case appAccountToken(String)

    /// The id or the token.
    package var name: String {
        switch self {
        case .customer(let name), .appAccountToken(let name): name
        }
    }

    /// Equal if of the same kind and with the same UTF-8, ignoring Unicode equivalence; tokens also
    /// if only the case of a UUID's letters differs.
    package static func == (left: Owner, right: Owner) -> Bool {
        switch (left, right) {
        case (.customer(let first), .customer(let second)): byBytes(first, second) == nil
        case (.appAccountToken(let first), .appAccountToken(let second)):
            TokenValue.areEqual(first, second)
        default: false
        }
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .customer(let name): hasher.combine(FieldValue.text(name))
        case .appAccountToken(let token): hasher.combine(TokenValue(token))
        }
    }
}

/// An interval in which a subscription had one owner, or none.
package struct Ownership: Sendable {
    /// The owner; nil if there was none.
    package let owner: Owner?
    /// Its start; nil before the first claim, when it has none.
    package let from: Instant?
    /// Its end, exclusive; nil if none is known.
    package let to: Instant?
    /// The offset of the event that decides it; nil before the first claim, when there is no owner.
    package let offset: Int64?
}

/// The operator's claim to a subscription for a customer, from one link until it ends.
package struct LinkClaim: Sendable {
    /// The app's own id for the customer.
    package let customer: String
    /// The instant that the statement names.
    package let from: Instant
    /// When an unlink ended it, exclusive; nil if it has not ended.
    ///
    /// For a contested claim, the end of the contest: the unlink that ended the claim it conflicted
    /// with.
    package let to: Instant?
    /// Who stated it, according to the cited event; empty if not stated.
    ///
    /// The same link stated again by another person is not a new event, so this, like the position,
    /// may depend on the order of arrival.
    package let statedBy: String
    /// The reason, according to the cited event; empty if none was given.
    package let reason: String
    /// The event that states it.
    package let offset: Int64
    /// The event that states the unlink which ended the claim; nil if it has not ended.
    package let endOffset: Int64?
    /// The customer who already had the subscription; nil if the claim was not contested.
    ///
    /// A contested claim moves no ownership: it is reported until an operator unlinks one of them.
    package let contests: String?

    /// Whether another customer already had it.
    package var isContested: Bool { contests != nil }
}

/// An app account token of a subscription, from one claim to the next.
package struct TokenClaim: Sendable {
    /// The token, as Apple wrote it.
    package let token: String
    /// When it begins: the start of the purchase that carries it, or the as-of of the statement
    /// that changed it.
    package let from: Instant
    /// When the next token replaced it, exclusive; nil if none did.
    package let to: Instant?
    /// The event that states it.
    package let offset: Int64
}
