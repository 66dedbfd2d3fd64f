/// A partition of the log, as positions carry it: its number, and whether the ledger has no other.
///
/// Lanes with equal numbers are equal: positions of two ledgers are never compared.
package struct Lane: Sendable {
    // Small, because every position in memory has one.
    private let stored: Int32
    /// Whether it is the only lane of its ledger, so positions are written without it.
    package let isOnly: Bool

    /// Its number, from 0.
    package var number: Int { Int(stored) }

    /// The lane of a ledger that has one.
    package static let only = Lane(stored: 0, isOnly: true)

    fileprivate init(stored: Int32, isOnly: Bool) {
        (self.stored, self.isOnly) = (stored, isOnly)
    }

    /// The lane that a question names by its number, taken for one of several.
    package init(_ number: Int) {
        self.init(stored: Int32(clamping: number), isOnly: false)
    }
}

extension Lane: Comparable, Hashable {
    /// Whether both have the same number.
    package static func == (left: Lane, right: Lane) -> Bool { left.stored == right.stored }

    /// By number.
    package static func < (left: Lane, right: Lane) -> Bool { left.stored < right.stored }

    /// Hashes the number.
    package func hash(into hasher: inout Hasher) { hasher.combine(stored) }
}

/// The number of lanes of a ledger: a power of two, chosen once and never changed.
public struct LaneCount: Hashable, Sendable {
    /// From 1 to `maximum`.
    public let value: Int

    /// The most lanes a ledger can have, and so the most nodes it can be spread over.
    public static let maximum = 1024

    /// One lane.
    public static let one = LaneCount(unchecked: 1)

    private init(unchecked value: Int) {
        self.value = value
    }

    /// That many lanes; nil unless a power of two from 1 to `maximum`.
    public init?(_ value: Int) {
        guard value >= 1, value <= LaneCount.maximum, value & (value - 1) == 0 else { return nil }
        self.value = value
    }

    /// The lane of a subscription.
    ///
    /// The first four bytes of SHA-256 of its id's UTF-8, most significant first, modulo the number
    /// of lanes: the same as SQL's `ledger.lane_of`.
    public func lane(of originalTransactionId: String) -> Int {
        guard value > 1 else { return 0 }
        let head = Digest.of(Array(originalTransactionId.utf8)).bytes.prefix(4)
        return Int(head.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) & (value - 1)
    }

    /// The lane with that number, which a tampered row or a question may choose out of range.
    package subscript(number: Int) -> Lane {
        Lane(stored: Int32(clamping: number), isOnly: self == .one)
    }

    /// Offsets by lane as questions accept them: `17` where there is one lane, otherwise
    /// `0:17,3:4`.
    public func text(_ offsets: [Int: Int64]) -> String {
        offsets.sorted { $0.key < $1.key }
            .map { "\(Position(lane: self[$0.key], offset: $0.value))" }
            .joined(separator: ",")
    }
}
