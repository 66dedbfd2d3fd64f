/// What assertions decide about some fields, each found once: for folds that ask again and again.
///
/// Says the same as `Assertions` about those fields.
public struct Decisions: Sendable {
    // About what anything was said; by ascending tag, as the entries are.
    private let fields: FieldSet
    private var entries: [Entry] = []

    private struct Entry {
        let state: Knowledge.State
        let offset: Int64
    }

    /// What these assertions decide about the fields of a set.
    public init(_ assertions: Assertions, of asked: FieldSet) {
        let said = assertions.sorted.reduce(into: FieldSet()) { $0.formUnion($1.fields) }
        fields = said.intersection(asked)
        entries.reserveCapacity(fields.rawValue.nonzeroBitCount)
        // Nearly every purchase is told of once; then one walk over its bytes tells all.
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

    /// The state of a field, with the offset of the event that decides it; nil where nobody said
    /// anything, or it is none of the fields that were asked for.
    public func decision(on field: Field) -> (state: Knowledge.State, offset: Int64)? {
        guard fields.contains(field) else { return nil }
        let lower = fields.rawValue & ((1 << UInt64(field.rawValue)) - 1)
        let entry = entries[lower.nonzeroBitCount]
        return (entry.state, entry.offset)
    }
}
