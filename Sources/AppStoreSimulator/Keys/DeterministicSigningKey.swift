internal import Crypto
internal import FoundationEssentials

/// A P-256 key whose signatures are the same bytes every time: ECDSA with the nonce of RFC 6979.
///
/// swift-crypto signs with a random nonce, which would make every simulated history different.
/// Here the library multiplies the curve's base point (a private key of value k has the public key
/// k·G) and only the arithmetic modulo n is ours.
struct DeterministicSigningKey: Sendable {
    /// 32 big-endian bytes, between 1 and n - 1.
    let rawRepresentation: [UInt8]
    let verifyingKey: P256.Signing.PublicKey

    /// The key of a scalar; nil for zero and for what is not below n.
    init?(rawRepresentation: [UInt8]) {
        guard rawRepresentation.count == 32,
            let scalar = CurveOrderScalar(exactly: rawRepresentation), scalar != .zero
        else { return nil }
        self.rawRepresentation = rawRepresentation
        verifyingKey = Self.libraryKey(rawRepresentation).publicKey
    }

    /// The next key of a generator; one draw in 2^32 is no key and is passed over.
    init(from generator: inout SeededGenerator) {
        while true {
            if let key = DeterministicSigningKey(rawRepresentation: generator.bytes(32)) {
                self = key
                return
            }
        }
    }

    /// The signature r‖s over a message digest, 64 bytes (RFC 6979 §3.2 and §2.4).
    func signature(for digest: SHA256.Digest) -> [UInt8] {
        let message = CurveOrderScalar(reducing: Array(digest))
        let secret = CurveOrderScalar(reducing: rawRepresentation)
        var nonces = NonceGenerator(secret: rawRepresentation, message: message.bytes)
        while true {
            let nonce = nonces.next()
            let point = Self.libraryKey(nonce.bytes).publicKey.rawRepresentation
            let first = CurveOrderScalar(reducing: point.prefix(32))
            let second = nonce.inverse * (message + first * secret)
            if first != .zero && second != .zero { return first.bytes + second.bytes }
        }
    }

    private static func libraryKey(_ scalar: [UInt8]) -> P256.Signing.PrivateKey {
        do {
            return try P256.Signing.PrivateKey(rawRepresentation: scalar)
        } catch {
            preconditionFailure("swift-crypto refused a scalar between 1 and n - 1: \(error)")
        }
    }
}

/// The stream of candidate nonces of RFC 6979 §3.2: an HMAC generator over key and message.
private struct NonceGenerator {
    private var key = [UInt8](repeating: 0, count: 32)
    private var value = [UInt8](repeating: 1, count: 32)

    init(secret: [UInt8], message: [UInt8]) {
        key = authenticate(value + [0] + secret + message)
        value = authenticate(value)
        key = authenticate(value + [1] + secret + message)
        value = authenticate(value)
    }

    mutating func next() -> CurveOrderScalar {
        while true {
            value = authenticate(value)
            let candidate = CurveOrderScalar(exactly: value)
            // The state moves on before the answer, as in step h.3 of RFC 6979: were the candidate
            // refused by the caller, the next one must differ.
            key = authenticate(value + [0])
            value = authenticate(value)
            guard let candidate, candidate != .zero else { continue }
            return candidate
        }
    }

    private func authenticate(_ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }
}
