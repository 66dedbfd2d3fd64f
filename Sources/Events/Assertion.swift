/// One statement about a subject at one time on Apple's clock: by an event, or by a confirmation
/// of a part of it.
public struct Assertion: Sendable {
    /// When Apple said it.
    public let asOf: Instant
    /// The fields it speaks of.
    public let fields: FieldSet
    /// The offset of the event that carries the content.
    public let offset: Int64
    /// What the event says; only `fields` of it are asserted here.
    public let content: Content
    /// The transaction id of a repetition where it differs from the event's; empty otherwise.
    public let alias: String

    /// What an event at that offset asserts.
    public init(offset: Int64, asOf: Instant, content: Content) {
        let content = content.withTagsOfExtra
        self.asOf = asOf
        self.fields = content.asserted
        self.offset = offset
        self.content = content
        self.alias = ""
    }

    /// What a confirmation of an event with that content asserts.
    public init(_ confirmation: Confirmation, content: Content) {
        let content = content.withTagsOfExtra
        self.asOf = confirmation.asOf
        // What was removed from the event is not asserted any more, least of all its absence.
        self.fields = confirmation.fields.intersection(content.asserted)
        self.offset = confirmation.position.offset
        self.content = content
        self.alias = confirmation.transactionId
    }

    /// The state it asserts for one of its fields: a value, or that there is none.
    public func state(of field: Field) -> Knowledge.State {
        content.state(of: field)
    }

    /// Whether this assertion decides a field against another one: the rule of all knowledge.
    ///
    /// The latest as-of counts. Two assertions of one as-of that differ cannot be told apart in
    /// time: then the greater state wins, whichever event carries it, for a tie-break by event
    /// would depend on which came first. Among equals the lowest offset is cited.
    public func outranks(_ other: Assertion, on field: Field) -> Bool {
        if asOf != other.asOf { return asOf > other.asOf }
        let (mine, theirs) = (state(of: field), other.state(of: field))
        return theirs < mine || (theirs == mine && offset < other.offset)
    }
}
