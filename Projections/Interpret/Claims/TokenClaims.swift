internal import Events

/// Interprets app account tokens as claims.
///
/// A purchase carries its token from its start, and claims the subscription once: when Apple signs
/// an old purchase again, in a poll years later, that says nothing about who has it now. Only a
/// changed token is a new claim, as of the statement that changed it (the endpoint Set App Account
/// Token; a crossgrade from another login makes a purchase with another token). A token in renewal
/// info is about the next renewal, and claims nothing: the transaction of that renewal states whose
/// it is. Only while no transaction is known does it count, as of its statement.
struct TokenClaims {
    /// The tokens in order; adjacent ones differ.
    private(set) var claims: [TokenClaim] = []

    private var found: [Found] = []

    private struct Found {
        let token: String
        let from: Instant
        let offset: Int64
    }

    init(_ timeline: Timeline) {
        for purchase in timeline.transactions { take(purchase) }
        for purchase in timeline.oneTimePurchases { take(purchase) }
        if timeline.purchases.isEmpty, timeline.oneTimePurchases.isEmpty {
            gather(timeline.renewals, from: nil)
        }
        found.sort { left, right in
            if left.from != right.from { return left.from < right.from }
            return byBytes(left.token, right.token) ?? (left.offset < right.offset)
        }
        chain()
    }

    private mutating func take(_ purchase: Purchase) {
        gather(purchase.assertions, from: purchase.purchaseDate)
    }

    // The first token from `start`, each change as of the statement that made it.
    private mutating func gather(_ assertions: Assertions, from start: Instant?) {
        var last: String?
        var sorted = assertions.sorted[...]
        while let first = sorted.first {
            let ofOneInstant = sorted.prefix { $0.asOf == first.asOf }
            sorted = sorted[ofOneInstant.endIndex...]
            var best: Assertion?
            for assertion in ofOneInstant where assertion.fields.contains(.appAccountToken) {
                // A placeholder neither makes nor ends a claim.
                if assertion.content.text(.appAccountToken)?.isPlaceholder == true { continue }
                if best.map({ assertion.outranks($0, on: .appAccountToken) }) ?? true {
                    best = assertion
                }
            }
            guard let best, let token = best.content.identity(.appAccountToken),
                last.map({ !TokenValue.areEqual($0, token) }) ?? true
            else { continue }
            let from = last == nil ? (start ?? best.asOf) : best.asOf
            found.append(Found(token: token, from: from, offset: best.offset))
            last = token
        }
    }

    // Of several tokens with the same start, the greatest counts; a token that follows itself is
    // continued.
    private mutating func chain() {
        var changes: [Found] = []
        for claim in found {
            if changes.last?.from == claim.from,
                changes.last.map({ !TokenValue.areEqual($0.token, claim.token) }) ?? false
            {
                changes.removeLast()
            }
            if let last = changes.last, TokenValue.areEqual(last.token, claim.token) { continue }
            changes.append(claim)
        }
        for (index, change) in changes.enumerated() {
            claims.append(
                TokenClaim(
                    token: change.token,
                    from: change.from,
                    to: index + 1 < changes.count ? changes[index + 1].from : nil,
                    offset: change.offset
                )
            )
        }
    }
}
