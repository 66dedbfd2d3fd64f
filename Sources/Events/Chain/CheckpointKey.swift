internal import Crypto

/// The public half of the key that signs checkpoints: a point of the curve P-256.
package struct CheckpointPublicKey: Hashable, Sendable {
    /// Its SubjectPublicKeyInfo in DER.
    package let der: [UInt8]

    /// The key with this SubjectPublicKeyInfo; nil unless it is a P-256 key in the form that DER
    /// prescribes.
    package init?(der: [UInt8]) {
        do {
            let key = try P256.Signing.PublicKey(derRepresentation: der)
            // Refuse any other encoding of the key, so a key has exactly one fingerprint.
            guard Array(key.derRepresentation) == der else { return nil }
        } catch {
            return nil
        }
        self.der = der
    }

    /// The key in a PEM document (`BEGIN PUBLIC KEY`); nil for anything else.
    package init?(pem: String) {
        do {
            der = Array(try P256.Signing.PublicKey(pemRepresentation: pem).derRepresentation)
        } catch {
            return nil
        }
    }

    /// Sixty-four hexadecimal digits that identify the key: the SHA-256 of `der`.
    package var fingerprint: String { Digest.of(der).hex }

    /// The key as a PEM document.
    package var pem: String {
        do {
            return try P256.Signing.PublicKey(derRepresentation: der).pemRepresentation + "\n"
        } catch {
            preconditionFailure("a key that was read once is read again: \(error)")
        }
    }

    /// Its two coordinates, of 32 bytes each: the end of its only form in DER.
    package var coordinates: (x: [UInt8], y: [UInt8]) {
        (Array(der.suffix(64).prefix(32)), Array(der.suffix(32)))
    }

    /// Whether this key made the signature of these bytes.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        do {
            let key = try P256.Signing.PublicKey(derRepresentation: der)
            let value = try P256.Signing.ECDSASignature(derRepresentation: signature)
            return key.isValidSignature(value, for: bytes)
        } catch {
            return false
        }
    }
}

/// The private key that signs checkpoints; it is never printed.
public struct CheckpointPrivateKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// The key in a PEM document (PKCS #8 or SEC 1, not encrypted); nil unless it is a P-256 key.
    public init?(pem: String) {
        do {
            key = try P256.Signing.PrivateKey(
                pemRepresentation: CheckpointPrivateKey.block(of: pem)
            )
        } catch {
            return nil
        }
    }

    /// Its public half.
    package var publicKey: CheckpointPublicKey {
        guard let key = CheckpointPublicKey(der: Array(key.publicKey.derRepresentation)) else {
            preconditionFailure("the public half of a key is a key")
        }
        return key
    }

    /// The ECDSA signature of the SHA-256 of these bytes, in DER.
    func sign(_ bytes: [UInt8]) -> [UInt8] {
        do {
            return Array(try key.signature(for: bytes).derRepresentation)
        } catch {
            preconditionFailure("a P-256 key signs everything: \(error)")
        }
    }

    /// The same as two numbers of 32 bytes, the form of a JWS (RFC 7518 §3.4).
    package func signJWS(_ bytes: [UInt8]) -> [UInt8] {
        do {
            return Array(try key.signature(for: bytes).rawRepresentation)
        } catch {
            preconditionFailure("a P-256 key signs everything: \(error)")
        }
    }

    // `openssl ecparam -genkey` writes the parameters of the curve before the key; skip them.
    private static func block(of pem: String) -> String {
        guard let parameters = pem.firstRange(of: "-----END EC PARAMETERS-----") else {
            return pem
        }
        return String(pem[parameters.upperBound...])
    }
}

extension CheckpointPrivateKey: CustomStringConvertible, CustomReflectable {
    /// The fingerprint of the public half.
    public var description: String { "the private key of \(publicKey.fingerprint)" }

    /// Hides the key from reflection, so printing or dumping it reveals nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
