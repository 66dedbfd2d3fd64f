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
}
