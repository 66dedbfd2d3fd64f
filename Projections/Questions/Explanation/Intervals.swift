internal import Events

// Sets of time: half-open intervals, ascending, disjoint, none empty, adjacent ones merged.
extension [Range<Instant>] {
    /// The union of these intervals, in any order and with any overlaps.
    var merged: [Range<Instant>] {
        var merged: [Range<Instant>] = []
        for interval in sorted(by: { $0.lowerBound < $1.lowerBound }) where !interval.isEmpty {
            if let last = merged.last, interval.lowerBound <= last.upperBound {
                let end = Swift.max(last.upperBound, interval.upperBound)
                merged[merged.count - 1] = last.lowerBound..<end
            } else {
                merged.append(interval)
            }
        }
        return merged
    }

    /// The parts of these intervals within another one.
    func within(_ bounds: Range<Instant>) -> [Range<Instant>] {
        map { $0.clamped(to: bounds) }.filter { !$0.isEmpty }
    }

    /// The parts of a set of time outside another set.
    func subtracting(_ others: [Range<Instant>]) -> [Range<Instant>] {
        var rest: [Range<Instant>] = []
        var next = others.startIndex
        for interval in self {
            var start = interval.lowerBound
            while next < others.endIndex, others[next].upperBound <= start { next += 1 }
            var other = next
            while other < others.endIndex, others[other].lowerBound < interval.upperBound {
                if start < others[other].lowerBound {
                    rest.append(start..<others[other].lowerBound)
                }
                start = Swift.max(start, others[other].upperBound)
                other += 1
            }
            if start < interval.upperBound { rest.append(start..<interval.upperBound) }
        }
        return rest
    }

    /// The interval that contains an instant; nil if none does.
    func holding(_ instant: Instant) -> Range<Instant>? { first { $0.contains(instant) } }
}
