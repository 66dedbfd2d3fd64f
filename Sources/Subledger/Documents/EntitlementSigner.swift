public import Events
internal import Foundation

/// Signs entitlements, so that a client can honour them offline until a stated time.
///
/// A signed document is a compact JWS (RFC 7515): ES256, the header `typ` is `entitlements+jwt`,
/// `kid` the thumbprint of the key (RFC 7638); the claims are the members of the document, `iat` and
/// `exp`.
public struct EntitlementSigner: Sendable {
    private let key: CheckpointPrivateKey
    private let header: String
    /// Seconds for which a signed document is valid.
    public let seconds: Int64
    /// The public keys, as `/.well-known/jwks.json` has them.
    public let keySet: JSONWebKeySet

    /// Seconds for which a signed document is valid by default: three days without a network.
    public static let secondsDefault: Int64 = 3 * 86_400
    /// How often, in the time for which it is valid, a cached document is renewed.
    private static let renewals: Int64 = 4

    /// A signer.
    ///
    /// - Parameters:
    ///   - key: The P-256 key that signs.
    ///   - older: Keys that signed before: documents signed by them are still valid.
    ///   - seconds: Seconds for which a signed document is valid, from 60.
    public init(
        _ key: CheckpointPrivateKey,
        older: [CheckpointPrivateKey] = [],
        validFor seconds: Int64 = EntitlementSigner.secondsDefault
    ) {
        self.key = key
        self.seconds = max(60, seconds)
        keySet = JSONWebKeySet(keys: ([key] + older).map { JSONWebKeySet.Key($0.publicKey) })
        header = #"{"alg":"ES256","kid":"\#(keySet.keys[0].kid)","typ":"entitlements+jwt"}"#
    }

    /// Signs a document about now.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - now: Our clock: when it is issued.
    /// - Returns: The compact JWS.
    /// - Throws: `EncodingError`, never for a document of the ledger.
    public func sign(_ document: EntitlementsDocument, at now: Instant) throws -> String {
        let issued = now.milliseconds / 1000
        let claims = Claims(document: document, issued: issued, expires: issued + seconds)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var text: [UInt8] = []
        Base64.encodeURLUnpadded(Array(header.utf8)[...], to: &text)
        text.append(UInt8(ascii: "."))
        Base64.encodeURLUnpadded([UInt8](try encoder.encode(claims))[...], to: &text)
        let signature = key.signJWS(text)
        text.append(UInt8(ascii: "."))
        Base64.encodeURLUnpadded(signature[...], to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Identifies a signed document: a cached one is renewed long before it expires.
    package func tag(of contentTag: String, at now: Instant) -> String {
        let period = now.milliseconds / 1000 / (seconds / EntitlementSigner.renewals)
        return "\(contentTag)-\(keySet.keys[0].kid.prefix(8))-\(period)"
    }

    private struct Claims: Encodable {
        let document: EntitlementsDocument
        let issued: Int64
        let expires: Int64

        enum CodingKeys: String, CodingKey {
            case iat, exp
        }

        func encode(to encoder: any Encoder) throws {
            try document.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(issued, forKey: .iat)
            try container.encode(expires, forKey: .exp)
        }
    }
}

/// Public keys as a JSON Web Key Set (RFC 7517).
public struct JSONWebKeySet: Codable, Hashable, Sendable {
    /// The keys; the first one signs.
    public let keys: [Key]

    /// Creates a set of keys.
    public init(keys: [Key]) { self.keys = keys }

    /// A public key of the curve P-256.
    public struct Key: Codable, Hashable, Sendable {
        /// Always `EC`.
        public let kty: String
        /// Always `P-256`.
        public let crv: String
        /// Always `ES256`.
        public let alg: String
        /// Always `sig`.
        public let use: String
        /// Its thumbprint (RFC 7638).
        public let kid: String
        /// The first coordinate, base64url.
        public let x: String
        /// The second coordinate, base64url.
        public let y: String

        /// The key in this form.
        public init(_ key: CheckpointPublicKey) {
            (kty, crv, alg, use) = ("EC", "P-256", "ES256", "sig")
            x = Key.base64(key.coordinates.x)
            y = Key.base64(key.coordinates.y)
            let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
            kid = Key.base64(Digest.of(Array(members.utf8)).bytes)
        }

        private static func base64(_ bytes: [UInt8]) -> String {
            var text: [UInt8] = []
            Base64.encodeURLUnpadded(bytes[...], to: &text)
            return String(decoding: text, as: UTF8.self)
        }
    }
}
