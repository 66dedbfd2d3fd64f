import Events

/// Renewals to which Apple gave original ids of their own, as some old app receipts list them.
///
/// The rows of one payload are of one customer. A renewal begins in the second in which the
/// period before it ends, and there may be a payload without one of the two, so each row that is
/// continued, or continues another, states that: in `extra`, from which folds of single
/// subscriptions read it (Decisions: renewals with original ids of their own).
enum Continuations {
    /// The same facts, with the names of the subscriptions that they continue, or that continue
    /// them.
    static func stated(in facts: [Fact]) -> [Fact] {
        var lives: [StreamID: Life] = [:]
        for (index, fact) in facts.enumerated() where fact.isPaidForPeriod {
            lives[fact.stream, default: Life(first: index, last: index)].take(index, facts)
        }
        // Nearly all payloads are about one subscription.
        guard lives.count > 1 else { return facts }
        let starts = Dictionary(grouping: lives.values.map(\.first)) { Joint(start: facts[$0]) }
        let ends = Dictionary(grouping: lives.values.map(\.last)) { Joint(end: facts[$0]) }
        var stated = facts
        for (joint, before) in ends {
            guard before.count == 1, let after = starts[joint], after.count == 1,
                facts[before[0]].content[.revocationDate] == nil
            else { continue }
            let (old, new) = (facts[before[0]].stream, facts[after[0]].stream)
            stated[before[0]].state(Continuation.isContinuedBy, new.originalTransactionId)
            stated[after[0]].state(Continuation.continues, old.originalTransactionId)
        }
        return stated
    }

    // The first and the last period of a subscription, as indexes of facts.
    private struct Life {
        var first: Int
        var last: Int

        mutating func take(_ index: Int, _ facts: [Fact]) {
            if facts[index].purchaseDate < facts[first].purchaseDate { first = index }
            if facts[index].expiresDate > facts[last].expiresDate { last = index }
        }
    }

    // Where a period of a product may continue another.
    private struct Joint: Hashable {
        let product: FieldValue?
        let second: Instant

        init(start fact: Fact) {
            (product, second) = (fact.content[.productId], fact.purchaseDate)
        }

        init(end fact: Fact) {
            (product, second) = (fact.content[.productId], fact.expiresDate)
        }
    }
}

extension Fact {
    fileprivate var isPaidForPeriod: Bool {
        kind == .transaction && purchaseDate < expiresDate
            && content.text(.inAppOwnershipType) != "FAMILY_SHARED"
    }

    fileprivate mutating func state(_ name: String, _ id: String) {
        var object = JSON.CanonicalObject()
        for member in ExtraObject(content.text(.extra) ?? "{}").members {
            object.add(Array(member.name.utf8)[...], Array(member.raw))
        }
        var text: [UInt8] = []
        JSONString.append(id.utf8, to: &text)
        object.add(Array(name.utf8)[...], text)
        var content = content
        content[.extra] = .text(String(decoding: object.canonicalText, as: UTF8.self))
        guard content.canonicalBytes.count <= Content.byteCountMax else { return }
        self = with(content)
    }
}
