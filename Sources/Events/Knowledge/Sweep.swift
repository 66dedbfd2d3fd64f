/// Steps through assertions by as-of and knows, at each step, the state of every field: the same as
/// `Knowledge.state(of:upTo:)`, for all instants in one pass.
package struct Sweep: Sendable {
    private let assertions: ArraySlice<Assertion>
    private var winners: [Int]
    private var next: Int

    /// The as-of up to which all assertions were applied; nil before the first step.
    package private(set) var asOf: Instant?

    /// A sweep before the first assertion.
    package init(_ assertions: Assertions) {
        self.assertions = assertions.sorted
        winners = [Int](repeating: -1, count: FieldSet.RawValue.bitWidth)
        next = assertions.sorted.startIndex
    }

    /// Applies all assertions of the next as-of; returns false at the end.
    package mutating func advance() -> Bool {
        guard next < assertions.endIndex else { return false }
        let asOf = assertions[next].asOf
        self.asOf = asOf
        while next < assertions.endIndex, assertions[next].asOf == asOf {
            take(next)
            next += 1
        }
        return true
    }

    /// The state of a field as of now.
    package func state(of field: Field) -> Knowledge.State {
        winner(of: field).map { assertions[$0].content.state(of: field) } ?? .unknown
    }

    /// The state of a field as asserted at exactly this as-of; unknown if it was not.
    package func fresh(_ field: Field) -> Knowledge.State {
        guard let winner = winner(of: field), assertions[winner].asOf == asOf else {
            return .unknown
        }
        return assertions[winner].content.state(of: field)
    }

    /// The offset of the event that decides a field as of now; nil if no assertion covers it.
    package func decider(of field: Field) -> Int64? {
        winner(of: field).map { assertions[$0].offset }
    }

    private func winner(of field: Field) -> Int? {
        let index = winners[Int(field.rawValue)]
        return index < 0 ? nil : index
    }

    private mutating func take(_ index: Int) {
        var bits = assertions[index].fields.rawValue
        while bits != 0 {
            let tag = bits.trailingZeroBitCount
            bits &= bits - 1
            let current = winners[tag]
            // The common case costs one comparison, because assertions come by as-of.
            if current < 0 || assertions[current].asOf < assertions[index].asOf {
                winners[tag] = index
            } else if let field = Field(rawValue: UInt8(tag)),
                assertions[index].outranks(assertions[current], on: field)
            {
                winners[tag] = index
            }
        }
    }
}
