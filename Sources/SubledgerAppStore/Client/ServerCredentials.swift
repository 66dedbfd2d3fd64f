internal import Crypto
public import Events
internal import FoundationEssentials

/// The In-App Purchase key of App Store Connect, and the app that it authenticates.
///
/// The key does not appear in any description, reflection or error.
public struct ServerCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: P256.Signing.PrivateKey
    private let keyId: String
    private let issuerId: String
    private let bundleId: String

    /// How long a token is valid, in seconds: long enough for a request and little more.
    ///
    /// Apple refuses tokens of more than an hour.
    static let tokenSeconds: Int64 = 300

    /// The credentials of an app.
    ///
    /// - Parameters:
    ///   - pem: The text of the `.p8` file.
    ///   - keyId: The id of the key, as App Store Connect shows it.
    ///   - issuerId: The id of the issuer, as App Store Connect shows it.
    ///   - bundleId: The app.
    /// - Throws: `ServerError` with the code `credentials`; it never holds a part of the key.
    public init(
        pem: String,
        keyId: String,
        issuerId: String,
        bundleId: String
    ) throws(ServerError) {
        for (name, value) in [
            ("key id", keyId), ("issuer id", issuerId), ("bundle id", bundleId),
        ] where !ServerCredentials.isId(value) {
            throw ServerError(
                .credentials,
                "the \(name) '\(value.prefix(64))' is not valid; expected letters, digits, - and ."
            )
        }
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        } catch {
            throw ServerError(
                .credentials,
                "the key is not a P-256 private key in PEM; expected the .p8 file of an In-App "
                    + "Purchase key from App Store Connect"
            )
        }
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
    }

    /// The id of the key and the app; nothing of the key itself.
    public var description: String { "key \(keyId) of \(bundleId)" }

    /// Only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// Signs a token and discards it, to check that the key can sign.
    ///
    /// - Throws: `ServerError` with the code `credentials`.
    public func check(at instant: Instant) throws(ServerError) { _ = try token(at: instant) }

    /// A token for the `Authorization` header, issued at that instant.
    ///
    /// - Throws: `ServerError` if the key cannot sign.
    func token(at instant: Instant) throws(ServerError) -> String {
        let issuedAt = instant.milliseconds / 1000
        let header = #"{"alg":"ES256","kid":"\#(keyId)","typ":"JWT"}"#
        let claims =
            #"{"iss":"\#(issuerId)","iat":\#(issuedAt),"#
            + #""exp":\#(issuedAt + ServerCredentials.tokenSeconds),"#
            + #""aud":"\#(ServerCredentials.audience)","bid":"\#(bundleId)"}"#
        var text: [UInt8] = []
        Base64.encodeURLUnpadded(Array(header.utf8)[...], to: &text)
        text.append(UInt8(ascii: "."))
        Base64.encodeURLUnpadded(Array(claims.utf8)[...], to: &text)
        let signature: [UInt8]
        do {
            signature = Array(try key.signature(for: text).rawRepresentation)
        } catch {
            throw ServerError(.credentials, "\(self) cannot sign a token")
        }
        text.append(UInt8(ascii: "."))
        Base64.encodeURLUnpadded(signature[...], to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static let audience = "appstoreconnect-v1"

    // Ids are written into JSON without escaping.
    private static func isId(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                Base64.isURLCharacter(byte) || byte == UInt8(ascii: ".")
            }
    }
}
