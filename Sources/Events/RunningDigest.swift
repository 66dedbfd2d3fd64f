internal import Crypto

/// A SHA-256 that grows with what is streamed through it, for content that is never in memory.
public struct RunningDigest: Sendable {
    private var hasher = SHA256()

    /// The digest of nothing yet.
    public init() {}

    /// Takes in more bytes, as if appended to all before.
    public mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    }

    /// The digest of everything added so far; adding may go on afterwards.
    public var digest: Digest {
        guard let digest = Digest(bytes: hasher.finalize()) else {
            preconditionFailure("a SHA-256 has \(Digest.byteCount) bytes")
        }
        return digest
    }
}
