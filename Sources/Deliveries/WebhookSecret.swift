internal import Crypto
internal import Foundation

/// A secret that signs messages as Standard Webhooks 1.0 has it: `whsec_` and a key for HMAC-SHA256,
/// or `whsk_` and a private key of Ed25519, in Base64.
package struct WebhookSecret: Sendable {
    /// The text, as it is stored and given to the receiver.
    package let text: String
    private let key: Key

    private enum Key {
        case symmetric(SymmetricKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// How messages are signed.
    package enum Scheme: String, CaseIterable, Sendable {
        /// One secret for both sides.
        case hmac
        /// The receiver has only the public key.
        case ed25519
    }

    /// The fewest and the most bytes of a symmetric key, by the specification.
    package static let byteCounts = 24...64
    private static let symmetricPrefix = "whsec_"
    private static let privatePrefix = "whsk_"

    /// A new secret.
    package static func random(_ scheme: Scheme) -> WebhookSecret {
        switch scheme {
        case .hmac:
            let key = SymmetricKey(size: .bits256)
            let text = key.withUnsafeBytes { Data($0).base64EncodedString() }
            return WebhookSecret(text: symmetricPrefix + text, key: .symmetric(key))
        case .ed25519:
            let key = Curve25519.Signing.PrivateKey()
            let text = key.rawRepresentation.base64EncodedString()
            return WebhookSecret(text: privatePrefix + text, key: .ed25519(key))
        }
    }

    /// Reads a secret.
    ///
    /// - Throws: `WebhookFault` that says what is expected.
    package init(_ text: String) throws(WebhookFault) {
        let isPrivate = text.hasPrefix(WebhookSecret.privatePrefix)
        let prefix = isPrivate ? WebhookSecret.privatePrefix : WebhookSecret.symmetricPrefix
        guard text.hasPrefix(prefix),
            let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count)))
        else {
            throw WebhookFault(
                "the secret is not one of Standard Webhooks; expected whsec_ and 24 to 64 bytes in "
                    + "Base64, or whsk_ and the 32 bytes of an Ed25519 private key"
            )
        }
        self.text = text
        if isPrivate {
            do {
                key = .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: bytes))
            } catch {
                throw WebhookFault(
                    "the secret has \(bytes.count) bytes after whsk_; a private key of Ed25519 has 32"
                )
            }
        } else {
            guard WebhookSecret.byteCounts.contains(bytes.count) else {
                throw WebhookFault(
                    "the secret has \(bytes.count) bytes after whsec_; Standard Webhooks wants 24 to 64"
                )
            }
            key = .symmetric(SymmetricKey(data: bytes))
        }
    }

    private init(text: String, key: Key) {
        (self.text, self.key) = (text, key)
    }

    /// The scheme.
    package var scheme: Scheme {
        switch key {
        case .symmetric: .hmac
        case .ed25519: .ed25519
        }
    }

    /// What the receiver needs to check signatures: the secret itself, or the public key.
    package var receiverKey: String {
        switch key {
        case .symmetric: text
        case .ed25519(let key):
            "whpk_" + key.publicKey.rawRepresentation.base64EncodedString()
        }
    }

    /// Signs a message.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - id: The header `webhook-id`.
    ///   - seconds: The header `webhook-timestamp`: seconds since 1970.
    /// - Returns: One signature of the header `webhook-signature`.
    /// - Throws: An error of the cryptographic library, never for a valid key.
    package func signature(of body: [UInt8], id: String, at seconds: Int64) throws -> String {
        let signed = Array("\(id).\(seconds).".utf8) + body
        switch key {
        case .symmetric(let key):
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
            return "v1," + Data(code).base64EncodedString()
        case .ed25519(let key):
            return "v1a," + (try key.signature(for: signed)).base64EncodedString()
        }
    }
}

/// What is wrong with a webhook that is to be added: one sentence.
package struct WebhookFault: Error, CustomStringConvertible, Sendable {
    /// What is wrong, and what is expected.
    package let description: String

    /// A fault.
    package init(_ description: String) {
        self.description = description
    }
}
