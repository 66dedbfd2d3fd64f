/// What the log knows about one subject, field by field, at any time on Apple's clock.
///
/// The one rule behind idempotency and behind every fold: of all assertions of a field up to an
/// instant, the one with the latest as-of counts. It is a function of the *set* of assertions, so
/// the order of arrival cannot matter.
package struct Knowledge: Sendable {
    /// What is known about a field.
    package enum State: Hashable, Sendable {
        /// It has this value.
        case value(FieldValue)
        /// There is no such thing: a format that can carry the field left it out.
        case none
        /// No assertion covers it.
        case unknown
    }

    private var contentOfOffset: [Int64: Content] = [:]
    private var assertions: [Assertion] = []
    // One for each assertion; nil if the caller gave none.
    private var trusts: [Verification.Trust?] = []

    // Held as field values, which compare by bytes; Swift's strings do not.
    private var aliases: Set<FieldValue> = []

    /// Nothing known.
    package init() {}

    /// Whether anything is known at all.
    package var isEmpty: Bool { assertions.isEmpty }

    /// Adds what an event at that offset asserts, with proof of that trust; nil counts as the
    /// strongest.
    package mutating func learn(
        offset: Int64,
        asOf: Instant,
        content: Content,
        trust: Verification.Trust? = nil
    ) {
        contentOfOffset[offset] = content
        assertions.append(Assertion(offset: offset, asOf: asOf, content: content))
        trusts.append(trust)
        learnAlias(content.text(.transactionId) ?? "")
    }

    /// Adds a repetition; ignores one whose event was not learned.
    package mutating func learn(_ confirmation: Confirmation, trust: Verification.Trust? = nil) {
        guard let content = contentOfOffset[confirmation.position.offset] else { return }
        assertions.append(Assertion(confirmation, content: content))
        trusts.append(trust)
        learnAlias(confirmation.transactionId)
    }

    /// Whether a fact gives this purchase a new transaction id, although it already has one.
    ///
    /// Restores and other devices make new ids for the same purchase (Apple's data: trap 4).
    package func isRestored(by fact: Fact) -> Bool {
        guard fact.kind == .transaction, !aliases.isEmpty,
            let transactionId = fact.content.text(.transactionId), !transactionId.isEmpty
        else { return false }
        return !aliases.contains(.text(transactionId))
    }

    /// Whether the subject is known under that transaction id.
    package func isKnown(under transactionId: FieldValue) -> Bool {
        aliases.contains(transactionId)
    }

    /// The state of a field as asserted up to an instant; nil means up to the end of time.
    package func state(of field: Field, upTo instant: Instant? = nil) -> State {
        winner(of: field, upTo: instant)?.state(of: field) ?? .unknown
    }

    /// The offset of the event that decides a field; nil if no assertion covers the field.
    package func decider(of field: Field, upTo instant: Instant? = nil) -> Int64? {
        winner(of: field, upTo: instant)?.offset
    }

    private mutating func learnAlias(_ transactionId: String) {
        if !transactionId.isEmpty { aliases.insert(.text(transactionId)) }
    }

    private func winner(of field: Field, upTo instant: Instant?) -> Assertion? {
        var best: Assertion?
        for assertion in assertions where assertion.fields.contains(field) {
            if let instant, assertion.asOf > instant { continue }
            if best.map({ assertion.outranks($0, on: field) }) ?? true { best = assertion }
        }
        return best
    }
}

extension Knowledge.State: Comparable {
    /// Unknown, then none, then values by their canonical bytes.
    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.value(let first), .value(let second)):
            first.canonicalBytes.lexicographicallyPrecedes(second.canonicalBytes)
        default:
            left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .none: 1
        case .value: 2
        }
    }
}

extension Knowledge {
    /// The verdict on a fact, in order of precedence.
    package enum Judgement: Hashable, Sendable {
        /// It says something that was not known as of its own as-of: append it.
        case new
        /// Everything it says was known, decided by the event at that offset; keep the repetitions,
        /// of which there may be none.
        case known(offset: Int64, repetitions: [Repetition])
    }

    /// Fields of an event that a fact repeated: as of another instant, by stronger proof, or under
    /// another transaction id.
    package struct Repetition: Hashable, Sendable {
        /// The event.
        package let offset: Int64
        /// What was repeated.
        package let fields: FieldSet
        /// The new alias, or empty.
        package let transactionId: String
    }

    /// Decides whether a fact about this subject is news: whether any meaningful field differs from
    /// what was known as of the fact's own as-of, or was unknown.
    ///
    /// `trust` is that of the fact's evidence. What was known as of the same instant by weaker
    /// proof is returned as a repetition.
    package func judge(_ fact: Fact, trust: Verification.Trust = .vouched) -> Judgement {
        let content = fact.content.withTagsOfExtra
        if let own = ofOnePayment(content) { return own.judge(fact, trust: trust) }

        var repeated: [Int64: FieldSet] = [:]
        var supporters: Set<Int64> = []
        for field in content.asserted.fields {
            let claim = content.state(of: field)
            let equal = assertion(of: claim, field, exactlyAt: fact.asOf)
            if let equal, !trust.isStronger(than: equal.trust) {
                supporters.insert(equal.offset)
                continue
            }
            guard let winner = winner(of: field, upTo: fact.asOf),
                winner.state(of: field) == claim
            else {
                // Another value with the same as-of may outrank it: it is known, but does not win.
                guard let equal else { return .new }
                supporters.insert(equal.offset)
                repeated[equal.offset, default: []].insert(field)
                continue
            }
            let offset = equal?.offset ?? winner.offset
            supporters.insert(offset)
            repeated[offset, default: []].insert(field)
        }

        guard let cited = supporters.min() else {
            // A fact that asserts nothing is known if another such fact has the same as-of.
            let same = assertions.first { $0.asOf == fact.asOf && $0.fields.isEmpty }
            return same.map { .known(offset: $0.offset, repetitions: []) } ?? .new
        }
        var alias = ""
        if let transactionId = content.text(.transactionId), !transactionId.isEmpty,
            !aliases.contains(.text(transactionId))
        {
            alias = transactionId
            repeated[cited, default: []].formUnion([])
        }
        let repetitions = repeated.sorted { $0.key < $1.key }.map {
            Repetition(
                offset: $0.key,
                fields: $0.value,
                transactionId: $0.key == cited ? alias : ""
            )
        }
        return .known(offset: cited, repetitions: repetitions)
    }

    // What was stated about the payment of a content; nil if nothing is about another one. Seats
    // that are bought and added in one second are one subject, but two payments: what one states
    // does not contradict the other, or both would be news at every poll.
    private func ofOnePayment(_ content: Content) -> Knowledge? {
        guard let transactionId = content[.transactionId],
            aliases.contains(where: { $0 != transactionId })
        else { return nil }
        let others = Set(
            contentOfOffset.filter { content.isOfOtherPayment(than: $0.value) }.keys
        )
        guard !others.isEmpty else { return nil }
        var own = self
        let kept = assertions.indices.filter { !others.contains(assertions[$0].offset) }
        own.assertions = kept.map { assertions[$0] }
        own.trusts = kept.map { trusts[$0] }
        own.contentOfOffset = contentOfOffset.filter { !others.contains($0.key) }
        return own
    }

    // The assertion of a claim as of exactly that instant: the one with the strongest proof, then
    // the lowest offset.
    private func assertion(
        of claim: State,
        _ field: Field,
        exactlyAt instant: Instant
    ) -> (offset: Int64, trust: Verification.Trust?)? {
        var best: (offset: Int64, trust: Verification.Trust?)?
        for (index, assertion) in assertions.enumerated()
        where assertion.asOf == instant && assertion.fields.contains(field) {
            guard assertion.state(of: field) == claim else { continue }
            let found = (offset: assertion.offset, trust: trusts[index])
            guard let known = best else {
                best = found
                continue
            }
            let isStronger = Knowledge.isStronger(found.trust, than: known.trust)
            let isEqual = found.trust == known.trust
            if isStronger || (isEqual && found.offset < known.offset) { best = found }
        }
        return best
    }

    private static func isStronger(
        _ left: Verification.Trust?,
        than right: Verification.Trust?
    ) -> Bool {
        guard let left else { return right != nil }
        return left.isStronger(than: right)
    }
}

extension Content {
    // By transaction id and line item, which a restore has in common with what it restores; one of
    // both must be of seats: no other subscription has a quantity above 1.
    fileprivate func isOfOtherPayment(than other: Content) -> Bool {
        guard let id = self[.transactionId], let otherId = other[.transactionId], id != otherId,
            let item = identity(.webOrderLineItemId),
            let otherItem = other.identity(.webOrderLineItemId),
            FieldValue.text(item) != FieldValue.text(otherItem)
        else { return false }
        return [self, other].contains { content in
            if let quantity = content.integer(.quantity), quantity > 1 { return true }
            let extra = content.text(.extra).map { ExtraObject($0) }
            return extra?["multiSeatInfo"] != nil || extra?["additionalTransactionReason"] != nil
        }
    }
}

extension Verification.Trust {
    /// Whether this trust is stronger than the other; nil is the strongest.
    public func isStronger(than other: Verification.Trust?) -> Bool {
        guard let other else { return false }
        return rank < other.rank
    }

    private var rank: Int {
        switch self {
        case .signed: 0
        case .fetched: 1
        case .sharedSecret: 2
        case .vouched: 3
        }
    }
}
