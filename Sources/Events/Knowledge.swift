/// What the log knows about one subject, field by field, at any time on Apple's clock.
///
/// The one rule behind idempotency and behind every fold: of all assertions of a field up to an
/// instant, the one with the latest as-of counts. It is a function of the *set* of assertions, so
/// the order of arrival cannot matter (promise 4).
public struct Knowledge: Sendable {
    /// What is known about a field.
    public enum State: Hashable, Sendable {
        /// It has this value.
        case value(FieldValue)
        /// There is no such thing: a format that can carry the field left it out.
        case none
        /// Nobody has said anything.
        case unknown
    }

    private var contentOfOffset: [Int64: Content] = [:]
    private var assertions: [Assertion] = []

    // As field values, which compare by bytes, where Swift's strings do not.
    private var aliases: Set<FieldValue> = []

    /// Nothing known.
    public init() {}

    /// Whether anything is known at all.
    public var isEmpty: Bool { assertions.isEmpty }

    /// Takes in what an event at that offset asserts.
    public mutating func learn(offset: Int64, asOf: Instant, content: Content) {
        contentOfOffset[offset] = content
        assertions.append(Assertion(offset: offset, asOf: asOf, content: content))
        learnAlias(content.text(.transactionId) ?? "")
    }

    /// Takes in a repetition; one of an event that was not learnt is passed over.
    public mutating func learn(_ confirmation: Confirmation) {
        guard let content = contentOfOffset[confirmation.position.offset] else { return }
        assertions.append(Assertion(confirmation, content: content))
        learnAlias(confirmation.transactionId)
    }

    /// Whether a fact gives this purchase, which is known by a transaction id, another one.
    ///
    /// Restores and other devices make new ids for the same purchase (app-store.md §G-4).
    public func isRestored(by fact: Fact) -> Bool {
        guard fact.kind == .transaction, !aliases.isEmpty,
            let transactionId = fact.content.text(.transactionId), !transactionId.isEmpty
        else { return false }
        return !aliases.contains(.text(transactionId))
    }

    /// The state of a field as asserted up to an instant; to the end of time where it is nil.
    public func state(of field: Field, upTo instant: Instant? = nil) -> State {
        winner(of: field, upTo: instant)?.state(of: field) ?? .unknown
    }

    /// The offset of the event that decides a field; nil where nobody said anything.
    public func decider(of field: Field, upTo instant: Instant? = nil) -> Int64? {
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
    public static func < (left: Self, right: Self) -> Bool {
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
    /// The verdict over a fact, in order of precedence.
    public enum Judgement: Hashable, Sendable {
        /// It tells something that was not known as of its own as-of: append it.
        case new
        /// All it says was known, decided by the event at that offset; the repetitions (possibly
        /// none) are to be kept.
        case known(offset: Int64, repetitions: [Repetition])
    }

    /// Fields of an event that a fact repeated under another as-of or transaction id.
    public struct Repetition: Hashable, Sendable {
        /// The event.
        public let offset: Int64
        /// What was repeated.
        public let fields: FieldSet
        /// The new alias, or empty.
        public let transactionId: String
    }

    /// Whether a fact about this subject is news: whether any meaningful field differs from what
    /// was known as of the fact's own as-of, or fills a hole.
    public func judge(_ fact: Fact) -> Judgement {
        let content = fact.content
        var repeated: [Int64: FieldSet] = [:]
        var supporters: Set<Int64> = []
        for field in content.asserted.fields {
            let claim = content[field].map(State.value) ?? .none
            if let offset = offset(asserting: claim, of: field, exactlyAt: fact.asOf) {
                supporters.insert(offset)
                continue
            }
            guard let winner = winner(of: field, upTo: fact.asOf),
                winner.state(of: field) == claim
            else { return .new }
            supporters.insert(winner.offset)
            repeated[winner.offset, default: []].insert(field)
        }
        guard let cited = supporters.min() else { return .new }
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

    private func offset(
        asserting claim: State,
        of field: Field,
        exactlyAt instant: Instant
    ) -> Int64? {
        var lowest: Int64?
        for assertion in assertions
        where assertion.asOf == instant && assertion.fields.contains(field) {
            guard assertion.state(of: field) == claim else { continue }
            lowest = min(lowest ?? assertion.offset, assertion.offset)
        }
        return lowest
    }
}
