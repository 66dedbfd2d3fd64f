/// What an event, or a confirmation of part of it, states about a subject at one time on Apple's
/// clock.
package struct Assertion: Sendable {
    /// When Apple said it.
    package let asOf: Instant
    /// The fields it asserts.
    package let fields: FieldSet
    /// The offset of the event that carries the content.
    package let offset: Int64
    /// The content of that event; this assertion covers only its `fields`.
    package let content: Content
    /// The transaction id of a repetition where it differs from the event's; empty otherwise.
    package let alias: String

    /// What an event at that offset asserts.
    package init(offset: Int64, asOf: Instant, content: Content) {
        let content = content.withTagsOfExtra
        self.asOf = asOf
        self.fields = content.asserted
        self.offset = offset
        self.content = content
        self.alias = ""
    }

    /// What a confirmation of an event with that content asserts.
    package init(_ confirmation: Confirmation, content: Content) {
        let content = content.withTagsOfExtra
        self.asOf = confirmation.asOf
        // A confirmation does not assert a field that was removed from the event, least of all its
        // absence.
        self.fields = confirmation.fields.intersection(content.asserted)
        self.offset = confirmation.position.offset
        self.content = content
        self.alias = confirmation.transactionId
    }

    /// The state it asserts for one of its fields: a value, or that there is none.
    package func state(of field: Field) -> Knowledge.State {
        content.state(of: field)
    }

    /// Whether this assertion decides a field against another one: the rule of all knowledge.
    ///
    /// The latest as-of wins. If two assertions with the same as-of differ, nothing orders them in
    /// time: the greater state wins, whichever event carries it, because a tie-break by event would
    /// depend on the order of arrival. Among equal states, the lowest offset is cited.
    package func outranks(_ other: Assertion, on field: Field) -> Bool {
        if asOf != other.asOf { return asOf > other.asOf }
        let (mine, theirs) = (state(of: field), other.state(of: field))
        return theirs < mine || (theirs == mine && offset < other.offset)
    }
}
