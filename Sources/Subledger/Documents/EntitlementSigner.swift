public import Events
internal import Foundation

/// Signs entitlements, so that a client can honour them offline until a stated time.
///
/// A signed document is a compact JWS (RFC 7515): ES256, the header `typ` is `entitlements+jwt`,
/// `kid` the thumbprint of the key (RFC 7638); the claims are the members of the document, `iat` and
/// `exp`.
public struct EntitlementSigner: Sendable {
    private let key: CheckpointPrivateKey
    /// Seconds for which a signed document is valid.
    public let seconds: Int64
    /// The public keys as a JSON Web Key Set (RFC 7517), the content of `/.well-known/jwks.json`.
    public let keySet: String
    private let keyId: String

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
        let keys = ([key] + older).map(\.publicKey.webKey)
        keySet = #"{"keys":[\#(keys.map(\.text).joined(separator: ","))]}"#
        keyId = keys[0].id
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let members = String(decoding: try encoder.encode(document), as: UTF8.self).dropLast()
        let header = #"{"alg":"ES256","kid":"\#(keyId)","typ":"entitlements+jwt"}"#
        let claims = #"\#(members),"exp":\#(issued + seconds),"iat":\#(issued)}"#
        let text = Array(header.utf8).base64URL + "." + Array(claims.utf8).base64URL
        return text + "." + key.signJWS(Array(text.utf8)).base64URL
    }

    /// Identifies a signed document: a cached one is renewed long before it expires.
    package func tag(of contentTag: String, at now: Instant) -> String {
        let period = now.milliseconds / 1000 / (seconds / EntitlementSigner.renewals)
        return "\(contentTag)-\(keyId.prefix(8))-\(period)"
    }
}

extension CheckpointPublicKey {
    /// The thumbprint of the key (RFC 7638), and the key as a JSON Web Key (RFC 7517).
    fileprivate var webKey: (id: String, text: String) {
        let point = #""x":"\#(coordinates.x.base64URL)","y":"\#(coordinates.y.base64URL)""#
        let members = #"{"crv":"P-256","kty":"EC",\#(point)}"#
        let id = Digest.of(Array(members.utf8)).bytes.base64URL
        let text =
            #"{"alg":"ES256","crv":"P-256","kid":"\#(id)","kty":"EC","use":"sig",\#(point)}"#
        return (id, text)
    }
}

extension [UInt8] {
    fileprivate var base64URL: String {
        var text: [UInt8] = []
        Base64.encodeURLUnpadded(self[...], to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
