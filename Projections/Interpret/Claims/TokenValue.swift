internal import Events

/// The value of an app account token, by which tokens are compared.
///
/// A token is a UUID (developer.apple.com/documentation/appstoreserverapi/appaccounttoken), and the
/// letters of a UUID are case-insensitive: Apple signs it in lower case, Swift's `uuidString` is in
/// upper case (RFC 9562, section 4). A text that is not a UUID is compared by its bytes.
struct TokenValue: Hashable, Sendable {
    /// The token; a UUID in lower case.
    let text: String

    init(_ token: String) {
        text = token.hasFormOfUUID ? token.lowercased() : token
    }

    static func == (left: TokenValue, right: TokenValue) -> Bool {
        byBytes(left.text, right.text) == nil
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(FieldValue.text(text))
    }
}

extension TokenValue {
    /// Whether two tokens are the same one.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        byBytes(left, right) == nil || TokenValue(left) == TokenValue(right)
    }

    /// For each value the spelling that comes first in UTF-8 order, in that order.
    static func unique(_ tokens: [String]) -> [String] {
        var seen: Set<TokenValue> = []
        return ByteSet(tokens).sorted.filter { seen.insert(TokenValue($0)).inserted }
    }
}
