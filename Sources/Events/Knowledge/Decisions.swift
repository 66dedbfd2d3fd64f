/// What assertions decide about some fields, each looked up once, for folds that ask repeatedly.
///
/// Gives the same answers as `Assertions` for those fields.
package struct Decisions: Sendable {
    // The requested fields that are asserted; `entries` has one for each, by ascending tag.
    private let fields: FieldSet
    private var entries: [Entry] = []

    private struct Entry {
        let state: Knowledge.State
        let offset: Int64
    }

    /// What these assertions decide about the fields of a set.
    package init(_ assertions: Assertions, of asked: FieldSet) {
        let said = assertions.sorted.reduce(into: FieldSet()) { $0.formUnion($1.fields) }
        fields = said.intersection(asked)
        entries.reserveCapacity(fields.rawValue.nonzeroBitCount)
        // Nearly every purchase has a single assertion, and one scan of its bytes finds all fields.
        if assertions.sorted.count == 1, let only = assertions.sorted.first {
            only.content.forEachState(of: fields) { state in
                entries.append(Entry(state: state, offset: only.offset))
            }
            return
        }
        for field in fields.fields {
            guard let decision = assertions.decision(on: field) else { continue }
            entries.append(Entry(state: decision.state, offset: decision.offset))
        }
    }

    /// The state of a field, with the offset of the event that decides it; nil if no assertion
    /// covers the field or it was not requested.
    package func decision(on field: Field) -> (state: Knowledge.State, offset: Int64)? {
        guard fields.contains(field) else { return nil }
        let lower = fields.rawValue & ((1 << UInt64(field.rawValue)) - 1)
        let entry = entries[lower.nonzeroBitCount]
        return (entry.state, entry.offset)
    }
}
