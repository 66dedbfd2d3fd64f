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

    private struct Assertion {
        let asOf: Instant
        let fields: FieldSet
        let offset: Int64
        let content: Int
    }

    private var contents: [Content] = []
    private var contentOfOffset: [Int64: Int] = [:]
    private var transactionIds: Set<String> = []
    private var assertions: [Assertion] = []

    /// Nothing known.
    public init() {}

    /// Whether anything is known at all.
    public var isEmpty: Bool { assertions.isEmpty }

    /// Takes in what an event at that offset asserts.
    public mutating func learn(offset: Int64, asOf: Instant, content: Content) {
        contentOfOffset[offset] = contents.count
        assertions.append(
            Assertion(
                asOf: asOf, fields: content.asserted, offset: offset, content: contents.count))
        contents.append(content)
        if let transactionId = content.text(.transactionId) {
            transactionIds.insert(transactionId)
        }
    }

    /// Takes in a repetition; one of an event that was not learnt is passed over.
    public mutating func learn(_ confirmation: Confirmation) {
        guard let content = contentOfOffset[confirmation.position.offset] else { return }
        assertions.append(
            Assertion(
                asOf: confirmation.asOf, fields: confirmation.fields,
                offset: confirmation.position.offset, content: content))
        if !confirmation.transactionId.isEmpty {
            transactionIds.insert(confirmation.transactionId)
        }
    }

    /// The state of a field as asserted up to an instant; to the end of time where it is nil.
    public func state(of field: Field, upTo instant: Instant? = nil) -> State {
        winner(of: field, upTo: instant).map { state(of: field, in: $0) } ?? .unknown
    }

    /// The offset of the event that decides a field; nil where nobody said anything.
    public func decider(of field: Field, upTo instant: Instant? = nil) -> Int64? {
        winner(of: field, upTo: instant)?.offset
    }

    private func state(of field: Field, in assertion: Assertion) -> State {
        contents[assertion.content][field].map(State.value) ?? .none
    }

    // Two assertions of one as-of that differ cannot be told apart in time. The greater value
    // wins, whichever event carries it: a tie-break by event would depend on which came first.
    // Among equals the lowest offset is cited.
    private func winner(of field: Field, upTo instant: Instant?) -> Assertion? {
        var best: Assertion?
        for assertion in assertions where assertion.fields.contains(field) {
            if let instant, assertion.asOf > instant { continue }
            guard let current = best else {
                best = assertion
                continue
            }
            if assertion.asOf != current.asOf {
                if assertion.asOf > current.asOf { best = assertion }
                continue
            }
            let (new, old) = (state(of: field, in: assertion), state(of: field, in: current))
            if old < new || (old == new && assertion.offset < current.offset) { best = assertion }
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
                state(of: field, in: winner) == claim
            else { return .new }
            supporters.insert(winner.offset)
            repeated[winner.offset, default: []].insert(field)
        }
        guard let cited = supporters.min() else { return .new }
        var alias = ""
        if let transactionId = content.text(.transactionId),
            !transactionIds.contains(transactionId)
        {
            alias = transactionId
            repeated[cited, default: []].formUnion([])
        }
        let repetitions = repeated.sorted { $0.key < $1.key }.map {
            Repetition(
                offset: $0.key, fields: $0.value, transactionId: $0.key == cited ? alias : "")
        }
        return .known(offset: cited, repetitions: repetitions)
    }

    private func offset(
        asserting claim: State, of field: Field, exactlyAt instant: Instant
    ) -> Int64? {
        var lowest: Int64?
        for assertion in assertions
        where assertion.asOf == instant && assertion.fields.contains(field) {
            guard state(of: field, in: assertion) == claim else { continue }
            lowest = min(lowest ?? assertion.offset, assertion.offset)
        }
        return lowest
    }
}
