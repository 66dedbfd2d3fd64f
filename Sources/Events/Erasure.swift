/// How much of a row of the log was erased; each case includes the ones before it.
package enum ErasedParts: Int, CaseIterable, Comparable, Sendable {
    /// Nothing.
    case nothing = 0
    /// The payload that proves it.
    case payload = 1
    /// The payload and what identifies a person.
    case person = 2
    /// Everything except its place and its subscription.
    case everything = 3

    /// Orders cases by how much was erased.
    package static func < (left: ErasedParts, right: ErasedParts) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What an event of kind `erasure` states: what was removed from which rows of its stream.
///
/// It never contains what was removed. It shows a reader of the log which gaps are erasures; every
/// other gap is a fault, and `verify` reports it.
public struct Erasure: Hashable, Sendable {
    /// What was erased.
    ///
    /// The raw value is stored and printed: add cases, never rename them. The widest comes first.
    public enum Scope: String, CaseIterable, Sendable {
        /// The whole content of a subscription, with its payloads.
        case subscription
        /// What identifies the customer in all events of a subscription, with their payloads.
        case customer
        /// Links of a subscription that name the customer, with their payloads: the subscription
        /// belongs to another customer.
        case link
        /// Payloads that a subscription shared with one that was erased.
        case payload

        /// What this scope removes from each row that it names.
        package var parts: ErasedParts {
            switch self {
            case .subscription: .everything
            case .customer, .link: .person
            case .payload: .payload
            }
        }

        /// Whether later statements about the subscription are stored without what identifies a
        /// person and without their payloads.
        package var isLasting: Bool { self == .subscription || self == .customer }
    }

    /// What was erased.
    package let scope: Scope
    /// Offsets of the events in their lane.
    package let events: NumberRanges
    /// Numbers of the commits whose repetitions of the subscription were erased with them.
    package let confirmations: NumberRanges
    /// Numbers of the payloads in their lane.
    package let evidence: NumberRanges

    /// Whether it removed something from an event or a confirmation: an erasure that did not proves
    /// nothing.
    package var removesRows: Bool { !events.isEmpty || !confirmations.isEmpty }

    /// An erasure of these rows.
    package init(
        scope: Scope,
        events: NumberRanges,
        confirmations: NumberRanges,
        evidence: NumberRanges
    ) {
        self.scope = scope
        self.events = events
        self.confirmations = confirmations
        self.evidence = evidence
    }

    /// What the content of an event of kind `erasure` says; nil if it cannot be read.
    package init?(_ content: Content) {
        guard let scope = content.text(.erasureScope).flatMap(Scope.init(rawValue:)),
            let events = NumberRanges(content.text(.erasedEvents) ?? ""),
            let confirmations = NumberRanges(content.text(.erasedConfirmations) ?? ""),
            let evidence = NumberRanges(content.text(.erasedEvidence) ?? "")
        else { return nil }
        self.init(
            scope: scope,
            events: events,
            confirmations: confirmations,
            evidence: evidence
        )
    }
}

/// Whole numbers from 1 as ascending ranges, written `3,7-9`.
package struct NumberRanges: Hashable, Sendable {
    /// The ranges, ascending, with a gap between any two.
    package let ranges: [ClosedRange<Int64>]

    /// The ranges that hold exactly these numbers; ignores numbers below 1.
    package init(_ numbers: some Sequence<Int64>) {
        var ranges: [ClosedRange<Int64>] = []
        for number in Set(numbers).sorted() where number >= 1 {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        self.ranges = ranges
    }

    /// Parses what `description` writes; nil for anything else.
    package init?(_ text: String) {
        var ranges: [ClosedRange<Int64>] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false)
        where !text.isEmpty {
            let ends = piece.split(separator: "-", omittingEmptySubsequences: false).map {
                Int64($0)
            }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2,
                first >= 1, first <= last, ranges.last.map({ $0.upperBound < first - 1 }) ?? true
            else { return nil }
            ranges.append(first...last)
        }
        self.ranges = ranges
        guard description == text else { return nil }
    }

    /// The numbers of both.
    package func union(_ other: NumberRanges) -> NumberRanges {
        var union: [ClosedRange<Int64>] = []
        for range in (ranges + other.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = union.last, range.lowerBound - 1 <= last.upperBound {
                union[union.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                union.append(range)
            }
        }
        return NumberRanges(ranges: union)
    }

    private init(ranges: [ClosedRange<Int64>]) {
        self.ranges = ranges
    }

    /// Whether it holds no number.
    package var isEmpty: Bool { ranges.isEmpty }

    /// How many numbers it holds.
    package var count: Int64 {
        ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) + 1 }
    }

    /// Whether it holds a number.
    package func contains(_ number: Int64) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].lowerBound <= number
    }
}

extension NumberRanges: CustomStringConvertible {
    /// `3,7-9`; empty for no number.
    package var description: String {
        ranges.map { range in
            range.count == 1
                ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }.joined(separator: ",")
    }
}
