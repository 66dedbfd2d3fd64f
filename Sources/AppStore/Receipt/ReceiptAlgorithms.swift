import Crypto
import Events
import SwiftASN1
import X509

/// How a receipt's content is digested.
///
/// Apple digested with SHA-1 until 2023 and with SHA-256 since (Apple's data: app receipts).
enum DigestAlgorithm: String {
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"

    /// Reads an AlgorithmIdentifier; throws `receipt-algorithm-unsupported` for any other.
    init(_ reader: BERReader) throws(Rejection) {
        switch try algorithm(reader) {
        case [1, 3, 14, 3, 2, 26]: self = .sha1
        case [2, 16, 840, 1, 101, 3, 4, 2, 1]: self = .sha256
        case [2, 16, 840, 1, 101, 3, 4, 2, 2]: self = .sha384
        case [2, 16, 840, 1, 101, 3, 4, 2, 3]: self = .sha512
        case let other: throw Rejection.algorithmUnsupported("digested", other)
        }
    }

    /// The digest of some bytes.
    func digest(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        func run<Function: HashFunction>(_ function: Function.Type) -> [UInt8] {
            var hash = Function()
            bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            return Array(hash.finalize())
        }
        switch self {
        case .sha1: return run(Insecure.SHA1.self)
        case .sha256: return run(SHA256.self)
        case .sha384: return run(SHA384.self)
        case .sha512: return run(SHA512.self)
        }
    }
}

/// How a receipt's digest is signed.
struct SignatureAlgorithm {
    /// The kind of key it needs.
    let key: Key
    /// The digest that its name includes; nil for `rsaEncryption`, which leaves it to the signer.
    let digest: DigestAlgorithm?

    /// The kinds of keys.
    enum Key: String {
        case rsa = "RSA"
        case p256 = "P-256"
    }

    /// Reads an AlgorithmIdentifier; throws `receipt-algorithm-unsupported` for any other.
    init(_ reader: BERReader) throws(Rejection) {
        switch try algorithm(reader) {
        case [1, 2, 840, 113549, 1, 1, 1]: (key, digest) = (.rsa, nil)
        case [1, 2, 840, 113549, 1, 1, 5]: (key, digest) = (.rsa, .sha1)
        case [1, 2, 840, 113549, 1, 1, 11]: (key, digest) = (.rsa, .sha256)
        case [1, 2, 840, 113549, 1, 1, 12]: (key, digest) = (.rsa, .sha384)
        case [1, 2, 840, 113549, 1, 1, 13]: (key, digest) = (.rsa, .sha512)
        case [1, 2, 840, 10045, 4, 3, 2]: (key, digest) = (.p256, .sha256)
        case [1, 2, 840, 10045, 4, 3, 3]: (key, digest) = (.p256, .sha384)
        case [1, 2, 840, 10045, 4, 3, 4]: (key, digest) = (.p256, .sha512)
        case let other: throw Rejection.algorithmUnsupported("signed", other)
        }
    }

    /// The algorithm as the library names it, if it agrees with digest and key.
    ///
    /// Throws `receipt-algorithm-mismatch`: three places of a receipt state how it was signed, and
    /// a verifier that trusts one of them can be tricked into checking less than the others
    /// promise.
    func agreed(
        with declared: DigestAlgorithm,
        key found: Key
    ) throws(Rejection) -> Certificate.SignatureAlgorithm {
        guard digest == nil || digest == declared else {
            throw Rejection(
                .receiptAlgorithmMismatch,
                "The app receipt is digested with \(declared.rawValue), but its signature names"
                    + " \(digest?.rawValue ?? "nothing")."
            )
        }
        guard key == found else {
            throw Rejection(
                .receiptAlgorithmMismatch,
                "The app receipt's signature is made with \(key.rawValue), but the signer's key is"
                    + " for \(found.rawValue)."
            )
        }

        switch (key, declared) {
        case (.rsa, .sha1): return .sha1WithRSAEncryption
        case (.rsa, .sha256): return .sha256WithRSAEncryption
        case (.rsa, .sha384): return .sha384WithRSAEncryption
        case (.rsa, .sha512): return .sha512WithRSAEncryption
        case (.p256, .sha256): return .ecdsaWithSHA256
        case (.p256, .sha384): return .ecdsaWithSHA384
        case (.p256, .sha512): return .ecdsaWithSHA512
        case (.p256, .sha1):
            throw Rejection(
                .receiptAlgorithmUnsupported,
                "The app receipt is signed on P-256 with SHA-1; SHA-256 or stronger is expected."
            )
        }
    }
}

// An AlgorithmIdentifier whose parameters are absent or NULL.
private func algorithm(_ reader: BERReader) throws(Rejection) -> ASN1ObjectIdentifier {
    var reader = reader
    let name = try reader.requireObjectIdentifier()
    if reader.next(if: .null) == nil, let parameters = reader.next() {
        throw Rejection(
            .receiptAlgorithmUnsupported,
            "The app receipt's algorithm \(name) has unknown parameters (tag"
                + " \(parameters.identifier.tagNumber))."
        )
    }
    try reader.requireEnd()
    return name
}

extension Rejection {
    fileprivate static func algorithmUnsupported(
        _ step: String,
        _ name: ASN1ObjectIdentifier
    ) -> Rejection {
        Rejection(
            .receiptAlgorithmUnsupported,
            "The app receipt is \(step) with \(name). Accepted are SHA-1, SHA-256, SHA-384 and"
                + " SHA-512 under RSA (PKCS #1 v1.5) or ECDSA."
        )
    }
}
