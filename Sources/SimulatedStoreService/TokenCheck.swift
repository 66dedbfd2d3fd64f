internal import Crypto
internal import Events
internal import Foundation

/// Checks the token of a request as Apple does.
struct TokenCheck: Sendable {
    let key: P256.Signing.PublicKey
    let keyId: String
    let issuerId: String
    let bundleId: String

    /// The longest validity of a token, in seconds.
    private static let secondsMax = 3600.0
    /// How far apart the clocks of both sides may be, in seconds.
    private static let skewSecondsMax = 60.0

    /// Whether a token is accepted at an instant.
    func accepts(_ authorization: String?, at now: Instant) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        let parts = authorization.dropFirst(7).split(
            separator: ".",
            omittingEmptySubsequences: false
        )
        guard parts.count == 3, let header = object(parts[0]), let claims = object(parts[1]),
            let signature = bytes(parts[2])
        else { return false }
        do {
            let signed = Data("\(parts[0]).\(parts[1])".utf8)
            let raw = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            guard key.isValidSignature(raw, for: signed) else { return false }
        } catch {
            return false
        }
        guard header["alg"] as? String == "ES256", header["kid"] as? String == keyId,
            claims["iss"] as? String == issuerId, claims["bid"] as? String == bundleId,
            claims["aud"] as? String == "appstoreconnect-v1",
            let end = (claims["exp"] as? NSNumber)?.doubleValue
        else { return false }
        let seconds = Double(now.milliseconds) / 1000
        let start = (claims["iat"] as? NSNumber)?.doubleValue ?? seconds
        return end > seconds && end - start <= Self.secondsMax
            && start <= seconds + Self.skewSecondsMax
    }

    private func object(_ part: Substring) -> [String: Any]? {
        guard let data = bytes(part) else { return nil }
        do {
            return try JSONSerialization.jsonObject(with: data) as? [String: Any]
        } catch {
            return nil
        }
    }

    private func bytes(_ part: Substring) -> Data? {
        Base64.decodeURLUnpadded(Array(part.utf8)[...]).map { Data($0) }
    }
}
