public import Events

/// The digest of a projection's content: equal for two ledgers that hold the same facts.
///
/// The sum, modulo 2^256, of one SHA-256 a stream: over its environment and id, each after its
/// 32-bit byte count, and the canonical bytes of its rows. A sum does
/// not depend on the order of streams, so lanes can be folded in any order and apart, and a stream
/// that changes is replaced by subtracting its old rows and adding its new ones. It tells whether
/// two contents differ; it is no proof against forgery, which is the chain's part.
public struct ProjectionDigest: Sendable {
    /// How many rows were added, less those removed.
    public private(set) var rowCount = 0

    // Least significant first.
    private var limbs: [UInt64] = [0, 0, 0, 0]

    /// The digest of no row.
    public init() {}

    /// A digest that was kept.
    public init(_ digest: Digest, rowCount: Int) {
        self.rowCount = rowCount
        limbs = ProjectionDigest.limbs(of: digest)
    }

    /// Adds all rows of a stream; a stream without rows changes nothing.
    public mutating func add(_ rows: [ProjectionRow], of stream: StreamID) {
        guard !rows.isEmpty else { return }
        var term = ProjectionDigest()
        term.rowCount = rows.count
        term.limbs = ProjectionDigest.limbs(of: rows, of: stream)
        add(term)
    }

    /// Adds all that was added to another digest.
    public mutating func add(_ other: ProjectionDigest) {
        rowCount += other.rowCount
        var carry = false
        for index in limbs.indices {
            let (sum, overflow) = limbs[index].addingReportingOverflow(other.limbs[index])
            let (total, overflowAgain) = sum.addingReportingOverflow(carry ? 1 : 0)
            limbs[index] = total
            carry = overflow || overflowAgain
        }
    }

    /// Takes away all rows of a stream that were added before.
    public mutating func remove(_ rows: [ProjectionRow], of stream: StreamID) {
        guard !rows.isEmpty else { return }
        rowCount -= rows.count
        let term = ProjectionDigest.limbs(of: rows, of: stream)
        var borrow = false
        for index in limbs.indices {
            let (difference, overflow) = limbs[index].subtractingReportingOverflow(term[index])
            let (total, overflowAgain) = difference.subtractingReportingOverflow(borrow ? 1 : 0)
            limbs[index] = total
            borrow = overflow || overflowAgain
        }
    }

    /// The digest of what is in it now.
    public var digest: Digest {
        var writer = ByteWriter()
        for limb in limbs.reversed() { writer.integer(limb) }
        guard let digest = Digest(bytes: writer.bytes) else {
            preconditionFailure("four limbs are \(Digest.byteCount) bytes")
        }
        return digest
    }

    // The term begins with the stream, so that equal rows of two streams do not cancel out.
    private static func limbs(of rows: [ProjectionRow], of stream: StreamID) -> [UInt64] {
        var writer = ByteWriter()
        writer.prefixed(stream.environment.word)
        writer.prefixed(stream.originalTransactionId)
        for row in rows { row.write(to: &writer) }
        return limbs(of: Digest.of(writer.bytes))
    }

    private static func limbs(of digest: Digest) -> [UInt64] {
        var reader = ByteReader(digest.bytes[...])
        return (0..<4).compactMap { _ in reader.integer(UInt64.self) }.reversed()
    }
}
