internal import Events

/// The address of a segment: the first sixteen bytes of the SHA-256 of its text.
package struct SegmentKey: Hashable, Sendable {
    // Stored inline, because every payload has one.
    private let words: (UInt64, UInt64)

    /// Number of bytes in a key: a ledger sees a handful of segments a year, so half a digest
    /// distinguishes them permanently.
    package static let byteCount = 16

    /// Sixteen bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: words) { Array($0) }
    }

    /// The key with exactly these bytes; nil unless there are sixteen.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == SegmentKey.byteCount else { return nil }
        words = bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
    }

    /// The key of a segment with this text.
    package static func of(_ text: [UInt8]) -> SegmentKey {
        guard let key = SegmentKey(bytes: Digest.of(text).bytes.prefix(byteCount)) else {
            preconditionFailure("a SHA-256 digest has more than \(byteCount) bytes")
        }
        return key
    }
}

extension SegmentKey {
    /// Whether all bytes are equal.
    package static func == (left: SegmentKey, right: SegmentKey) -> Bool {
        left.words == right.words
    }

    /// Hashes the first bytes, which are as random as all of them.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}

extension SegmentKey: CustomStringConvertible {
    /// Thirty-two lower-case hexadecimal digits.
    package var description: String { hexadecimal(bytes) }
}
