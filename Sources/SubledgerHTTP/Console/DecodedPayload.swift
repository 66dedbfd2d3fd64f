internal import Foundation

/// A payload as a person reads it: JSON, with each JWS in it taken apart.
///
/// It proves nothing: the bytes do, and the ledger verified them on arrival.
struct DecodedPayload {
    /// The text; nil if the payload is not JSON.
    let text: String?

    /// The most bytes of a payload that is decoded; the file has all of larger ones.
    private static let byteCountMax = 256 << 10
    /// Notifications nest transactions, and nothing of Apple's nests deeper.
    private static let depthMax = 3

    init(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteCountMax,
            let value = Self.jws(String(decoding: bytes, as: UTF8.self), depth: 0)
                ?? Self.json(Data(bytes), depth: 0),
            JSONSerialization.isValidJSONObject(value)
        else {
            text = nil
            return
        }
        do {
            let data = try JSONSerialization.data(
                withJSONObject: value,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
            text = String(decoding: data, as: UTF8.self)
        } catch {
            text = nil
        }
    }

    // The payload of a JWS; nil if the text is not one.
    private static func jws(_ text: String, depth: Int) -> Any? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasPrefix("eyJ"), depth <= depthMax else { return nil }
        var digits = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        digits += String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: digits).flatMap { json($0, depth: depth + 1) }
    }

    private static func json(_ data: Data, depth: Int) -> Any? {
        do {
            return decoded(try JSONSerialization.jsonObject(with: data), depth: depth)
        } catch {
            // Receipts are not JSON; their bytes are in the file.
            return nil
        }
    }

    private static func decoded(_ value: Any, depth: Int) -> Any {
        switch value {
        case let text as String: jws(text, depth: depth) ?? text
        case let members as [String: Any]: members.mapValues { decoded($0, depth: depth) }
        case let list as [Any]: list.map { decoded($0, depth: depth) }
        default: value
        }
    }
}
