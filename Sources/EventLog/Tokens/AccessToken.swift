package import Events

/// A secret by which a program authenticates itself: `sl_NAME_SECRET`.
///
/// The secret has 256 random bits; the ledger stores the SHA-256 of the whole text.
package struct AccessToken: Sendable {
    /// The name under which the token is stored.
    package let name: String
    /// The text that its bearer sends; never log it.
    package let text: String

    /// The longest name, in bytes.
    package static let nameByteCountMax = 64

    private static let prefix = "sl_"
    private static let secretByteCount = 32

    /// A new token with that name.
    package static func random(named name: String) -> AccessToken {
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<secretByteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return AccessToken(name: name, text: prefix + name + "_" + hexadecimal(secret))
    }

    /// The token in a request; nil if the text does not have the form of a token.
    package init?(_ text: String) {
        guard text.hasPrefix(AccessToken.prefix), let end = text.lastIndex(of: "_"),
            text.utf8.count <= AccessToken.byteCountMax
        else { return nil }
        let start = text.index(text.startIndex, offsetBy: AccessToken.prefix.count)
        guard start < end else { return nil }
        self.init(name: String(text[start..<end]), text: text)
    }

    private init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    private static var byteCountMax: Int {
        prefix.utf8.count + nameByteCountMax + 1 + 2 * secretByteCount
    }

    /// What the ledger stores of it.
    package var digest: Digest { .of(Array(text.utf8)) }

    /// Whether a name is allowed: letters, digits, `-` and `.`, so it fits into a header.
    package static func isName(_ name: String) -> Bool {
        (1...nameByteCountMax).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
