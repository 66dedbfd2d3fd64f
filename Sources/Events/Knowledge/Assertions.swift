/// Assertions in the order of Apple's clock, for folds: sorted once, queried many times.
///
/// Gives the same answers as `Knowledge` for the same assertions.
package struct Assertions: Sendable {
    /// By ascending as-of, then offset.
    package let sorted: ArraySlice<Assertion>

    /// Sorts these assertions, which may come in any order.
    package init(_ assertions: [Assertion]) {
        // Most inputs are already in order, and checking is cheaper than moving them.
        let isInOrder = assertions.indices.dropFirst().allSatisfy {
            !Assertions.areInOrder(assertions[$0], assertions[$0 - 1])
        }
        sorted = isInOrder ? assertions[...] : assertions.sorted(by: Assertions.areInOrder)[...]
    }

    /// Takes assertions that are already in order; answers are wrong if they are not.
    package init(inOrder assertions: ArraySlice<Assertion>) {
        sorted = assertions
    }

    /// The order that `init(inOrder:)` requires: as-of, then offset.
    package static func areInOrder(_ left: Assertion, _ right: Assertion) -> Bool {
        (left.asOf, left.offset) < (right.asOf, right.offset)
    }

    /// The state of a field after all assertions.
    package func state(of field: Field) -> Knowledge.State {
        decision(on: field)?.state ?? .unknown
    }

    /// The state of a field after all assertions, with the offset of the event that decides it; nil
    /// if no assertion covers the field.
    package func decision(on field: Field) -> (state: Knowledge.State, offset: Int64)? {
        sorted.withUnsafeBufferPointer { sorted in
            decider(of: field, in: sorted).map {
                (sorted[$0].content.state(of: field), sorted[$0].offset)
            }
        }
    }

    // Reads the assertions in place: copying one costs a retain and a release.
    private func decider(
        of field: Field,
        in sorted: UnsafeBufferPointer<Assertion>
    ) -> Int? {
        var index = sorted.endIndex
        var best: Int?
        while index > sorted.startIndex {
            index -= 1
            if let best, sorted[index].asOf != sorted[best].asOf { break }
            guard sorted[index].fields.contains(field) else { continue }
            if best.map({ sorted[index].outranks(sorted[$0], on: field) }) ?? true { best = index }
        }
        return best
    }
}
