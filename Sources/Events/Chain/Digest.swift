internal import Crypto

/// A SHA-256 digest: the address of a payload, the identity of a fact, a link of the chain.
package struct Digest: Hashable, Sendable {
    // Stored inline, because events come by the million.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Thirty-two bytes.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: words) { Array($0) }
    }

    /// The same as four numbers, the most significant first.
    package var bigEndianWords: (UInt64, UInt64, UInt64, UInt64) {
        (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
    }

    /// Number of bytes in a digest.
    package static let byteCount = 32

    /// Thirty-two zero bytes, which a column holds in place of a digest that does not exist.
    package static let zero = Digest(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    /// The digest with exactly these bytes; nil unless there are thirty-two.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Digest.byteCount else { return nil }
        words = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
    }

    /// The digest with exactly these bytes; nil unless there are thirty-two.
    package init?(bytes: some Sequence<UInt8>) {
        let digest = Array(bytes).withUnsafeBytes { Digest(bytes: $0) }
        guard let digest else { return nil }
        self = digest
    }

    /// The digest that sixty-four hexadecimal digits name; nil for anything else.
    package init?(hex: String) {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count == Digest.byteCount * 2 else {
            return nil
        }
        self.init(
            bytes: stride(from: 0, to: digits.count, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        )
    }

    /// The SHA-256 of some bytes.
    package static func of(_ bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes { of($0) } }

    /// The SHA-256 of some bytes.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var hasher = SHA256()
        hasher.update(bufferPointer: bytes)
        guard let digest = hasher.finalize().withUnsafeBytes({ Digest(bytes: $0) }) else {
            preconditionFailure("a SHA-256 digest has \(byteCount) bytes")
        }
        return digest
    }

    /// Sixty-four lower-case hexadecimal digits.
    package var hex: String { hexadecimal(bytes) }
}

extension Digest {
    /// Whether all bytes are equal.
    package static func == (left: Digest, right: Digest) -> Bool {
        left.words == right.words
    }

    /// Hashes the first eight bytes, which are as good as all.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}

extension Digest: CustomStringConvertible {
    /// The same as `hex`.
    package var description: String { hex }
}

/// Lower-case hexadecimal digits, two per byte.
package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

/// The SHA-256 of bytes that arrive in pieces.
package struct RunningDigest {
    private var hasher = SHA256()

    /// The digest of no bytes.
    package init() {}

    /// Adds the next piece.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hasher.update(bufferPointer: bytes)
    }

    /// The digest of all pieces so far.
    package var digest: Digest {
        guard let digest = hasher.finalize().withUnsafeBytes({ Digest(bytes: $0) }) else {
            preconditionFailure("a SHA-256 digest has \(Digest.byteCount) bytes")
        }
        return digest
    }
}

extension Digest: Codable {
    /// Reads sixty-four hexadecimal digits.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "a digest has sixty-four hexadecimal digits"
            )
        }
        self = digest
    }

    /// Writes sixty-four hexadecimal digits.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
