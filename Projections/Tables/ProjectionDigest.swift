package import Events

/// The digest of a projection's content: equal for two ledgers with the same facts.
///
/// The sum, modulo 2^256, of one SHA-256 per stream: over its environment and id, each after its
/// 32-bit byte count, and the canonical bytes of its rows. A sum does not depend on the order of
/// streams, so lanes can be folded in any order and separately, and a stream that changes is
/// replaced by subtracting its old rows and adding its new ones. It shows whether two contents
/// differ; it does not protect against forgery, which is the purpose of the chain.
package struct ProjectionDigest: Sendable {
    /// How many rows were added, minus those removed.
    package private(set) var rowCount = 0

    // Least significant first.
    private var limbs = Limbs()

    private struct Limbs {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0

        // Modulo 2^256.
        mutating func add(_ other: Limbs) {
            var carry = false
            Limbs.add(other.first, to: &first, &carry)
            Limbs.add(other.second, to: &second, &carry)
            Limbs.add(other.third, to: &third, &carry)
            Limbs.add(other.fourth, to: &fourth, &carry)
        }

        // The number that adds up with it to zero.
        var negated: Limbs {
            var negated = Limbs(first: ~first, second: ~second, third: ~third, fourth: ~fourth)
            negated.add(Limbs(first: 1))
            return negated
        }

        private static func add(_ more: UInt64, to limb: inout UInt64, _ carry: inout Bool) {
            let (sum, overflow) = limb.addingReportingOverflow(more)
            let (total, overflowAgain) = sum.addingReportingOverflow(carry ? 1 : 0)
            limb = total
            carry = overflow || overflowAgain
        }
    }

    /// The digest of no rows.
    package init() {}

    /// A stored digest.
    package init(_ digest: Digest, rowCount: Int) {
        self.rowCount = rowCount
        limbs = ProjectionDigest.limbs(of: digest)
    }

    /// Adds all rows of a stream; a stream without rows changes nothing.
    package mutating func add(_ rows: [ProjectionRow], of stream: StreamID) {
        guard !rows.isEmpty else { return }
        rowCount += rows.count
        limbs.add(ProjectionDigest.limbs(of: rows, of: stream))
    }

    /// Adds the content of another digest.
    package mutating func add(_ other: ProjectionDigest) {
        rowCount += other.rowCount
        limbs.add(other.limbs)
    }

    /// Removes all rows of a stream that were added before.
    package mutating func remove(_ rows: [ProjectionRow], of stream: StreamID) {
        guard !rows.isEmpty else { return }
        rowCount -= rows.count
        limbs.add(ProjectionDigest.limbs(of: rows, of: stream).negated)
    }

    /// The digest of its current content.
    package var digest: Digest {
        var writer = ByteWriter()
        for limb in [limbs.fourth, limbs.third, limbs.second, limbs.first] { writer.integer(limb) }
        guard let digest = Digest(bytes: writer.bytes) else {
            preconditionFailure("four limbs are \(Digest.byteCount) bytes")
        }
        return digest
    }

    // The term begins with the stream, so equal rows of two streams differ in their terms.
    private static func limbs(of rows: [ProjectionRow], of stream: StreamID) -> Limbs {
        var stem = ByteWriter()
        stem.prefixed(stream.environment.word)
        stem.prefixed(stream.originalTransactionId)
        let byteCount = rows.reduce(stem.bytes.count) { $0 + $1.canonicalBytes.count }
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { memory in
            var rest = memory
            rest.take(stem.bytes)
            for row in rows { rest.take(row.canonicalBytes) }
            return limbs(of: Digest.of(UnsafeRawBufferPointer(memory)))
        }
    }

    private static func limbs(of digest: Digest) -> Limbs {
        let (fourth, third, second, first) = digest.bigEndianWords
        return Limbs(first: first, second: second, third: third, fourth: fourth)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies bytes to the front, and advances behind them.
    fileprivate mutating func take(_ bytes: [UInt8]) {
        copyBytes(from: bytes)
        self = UnsafeMutableRawBufferPointer(rebasing: self[bytes.count...])
    }
}
