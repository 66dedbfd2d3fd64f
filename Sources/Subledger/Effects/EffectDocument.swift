internal import Events
internal import Projections

/// An effect as one flat document, under the names that other documents use.
///
/// `before` and `after` are what was known before and is known now: an access, a movement, a change
/// of plan or a customer, as `effect` says. One of them is missing for what is new, or is withdrawn.
package struct EffectDocument: Encodable {
    private let effect: SubscriptionEffect
    private let hasCursor: Bool

    /// The document of an effect; without a cursor where the reader's place is kept elsewhere.
    package init(_ effect: SubscriptionEffect, hasCursor: Bool = true) {
        (self.effect, self.hasCursor) = (effect, hasCursor)
    }

    private enum CodingKeys: String, CodingKey {
        case id, effect, environment, bundleId, originalTransactionId, customer, appAccountToken
        case before, after, erasureScope, isCorrection, position, recordedAt, cause, cursor
    }

    /// A fact of the commit.
    private struct Cause: Encodable {
        let position: Position
        let kind: String
        let summary: String
    }

    /// Writes the document; what has no value has no member.
    package func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: CodingKeys.self)
        try document.encode(effect.id, forKey: .id)
        try document.encode(effect.kind, forKey: .effect)
        try document.encode(effect.stream.environment, forKey: .environment)
        try document.encode(effect.bundleId, forKey: .bundleId)
        try document.encode(effect.stream.originalTransactionId, forKey: .originalTransactionId)
        try document.encodeIfPresent(effect.customer, forKey: .customer)
        try document.encodeIfPresent(effect.appAccountToken, forKey: .appAccountToken)
        func encode(_ before: (some Encodable)?, _ after: (some Encodable)?) throws {
            try document.encodeIfPresent(before, forKey: .before)
            try document.encodeIfPresent(after, forKey: .after)
        }
        switch effect.change.subject {
        case .access(let before, let after): try encode(before, after)
        case .movement(let before, let after): try encode(before, after)
        case .planChange(let before, let after): try encode(before, after)
        case .customer(let before, let after): try encode(before, after)
        case .erasure(let scope): try document.encode(scope.rawValue, forKey: .erasureScope)
        }
        try document.encode(effect.change.isCorrection, forKey: .isCorrection)
        try document.encode(effect.position, forKey: .position)
        try document.encode(effect.recordedAt, forKey: .recordedAt)
        let cause = effect.events.map { event in
            Cause(
                position: event.position,
                kind: event.fact.kind.rawValue,
                summary: event.fact.summary
            )
        }
        try document.encode(cause, forKey: .cause)
        guard hasCursor else { return }
        try document.encode(effect.cursor.description, forKey: .cursor)
    }
}

extension SubscriptionEffect {
    /// The effect as one line: where it is in the log, whom it is about, and what changed.
    package var line: String {
        let owner = [customer, appAccountToken.map { "token \($0)" }].compactMap(\.self).first
        let environment = stream.environment == .production ? nil : stream.environment.word
        let id = [stream.originalTransactionId, environment, owner].compactMap(\.self)
            .joined(separator: " · ")
        let correction = change.isCorrection ? " (correction)" : ""
        return "\(recordedAt.clock)  #\(position)  \(id)  \(change.words)\(correction)"
    }
}

extension EffectChange {
    /// The change as text: what happened, to what, and when.
    fileprivate var words: String {
        let name = kind.rawValue.replacing("_", with: " ")
        switch subject {
        case .access(let before, let after):
            guard let after else { return "\(name): \(before?.words ?? "") was never given" }
            return "\(name): \(after.words)"
        case .movement(let before, let after):
            guard let after else { return "\(name): withdrawn, \(before?.words ?? "")" }
            return "\(name): \(after.words)"
        case .planChange(let before, let after):
            guard let after else { return "\(name): withdrawn, \(before?.words ?? "")" }
            return "\(name): \(after.words)"
        case .customer(let before, let after): return "\(name): \(after ?? before ?? "")"
        case .erasure(let scope): return "\(name): \(scope.rawValue)"
        }
    }
}

extension AccessGrant {
    fileprivate var words: String {
        let end = until.map { " until \($0.clock)" } ?? ""
        return "\(productId) from \(from.clock)\(end)" + (isOpen ? "" : ", \(endReason.rawValue)")
    }
}

extension Movement {
    fileprivate var words: String {
        let amount = amountMilliunits.map { ", \(Amount.text($0, currency))" } ?? ""
        return "\(productId) at \(occurred.clock)\(amount)"
    }
}

extension PlanChange {
    fileprivate var words: String {
        guard let toSeatQuantity, fromSeatQuantity != toSeatQuantity else {
            return "\(fromProductId) → \(toProductId)"
        }
        let before = fromSeatQuantity.map { "\($0)" } ?? "?"
        return "\(toProductId), \(before) → \(toSeatQuantity) seats"
    }
}
