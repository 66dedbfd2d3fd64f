import Events

/// Reads the claims that identify a statement; only these must have the right type.
enum Claims {
    /// Longest bundle id or other identifier accepted, in UTF-8 bytes: Apple allows 155 and 255.
    static let identifierByteCountMax = 255

    /// The app; nil if the claims name none.
    static func bundleId(_ claims: JSON.Value) throws(Rejection) -> String? {
        try text(claims, "bundleId", byteCountMax: identifierByteCountMax)
    }

    /// The environment; nil if the claims name none.
    static func environment(_ claims: JSON.Value) throws(Rejection) -> StoreEnvironment? {
        let word = try text(claims, "environment", byteCountMax: StreamID.idByteCountMax)
        return word.map { StoreEnvironment($0) }
    }

    private static func text(
        _ claims: JSON.Value,
        _ name: StaticString,
        byteCountMax: Int
    ) throws(Rejection) -> String? {
        guard let value = claims[name], value.kind != .null else { return nil }
        guard let text = value.text else {
            throw Rejection(.claimMalformed, "\(name) must be a string; found \(value.kind).")
        }
        try checkIdentifier(text, name.description, byteCountMax: byteCountMax)
        return text.isEmpty ? nil : text
    }

    /// An id: a string, or an integer as old payloads write it (Apple's data: trap 48), also one
    /// that a program wrote as floating point; nil if there is none.
    static func id(_ claims: JSON.Value, _ name: StaticString) throws(Rejection) -> String? {
        guard let value = claims[name], value.kind != .null else { return nil }
        guard let text = idText(value) else {
            throw Rejection(
                .idMalformed,
                "\(name) must be a string of digits; found \(found(value))."
            )
        }
        try checkIdentifier(text, name.description, byteCountMax: StreamID.idByteCountMax)
        return text.isEmpty ? nil : text
    }

    /// The text of an id in any notation; nil for other values.
    static func idText(_ value: JSON.Value) -> String? {
        idBytes(value).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The UTF-8 of an id in any notation; nil for other values.
    static func idBytes(_ value: JSON.Value) -> ArraySlice<UInt8>? {
        plainIdBytes(value) ?? value.floatingPointDigits.map { Array($0.utf8)[...] }
    }

    /// The UTF-8 of an id as text or as digits; nil for other values.
    ///
    /// Ids in signed statements are read only in this way: events of old logs keep other notations
    /// in `extra`, and the same statement must always give the same fact.
    static func plainIdBytes(_ value: JSON.Value) -> ArraySlice<UInt8>? {
        value.isPlainInteger ? value.bytes : value.utf8
    }

    // What was found instead of an id.
    private static func found(_ value: JSON.Value) -> String {
        guard value.kind == .number else { return "\(value.kind)" }
        return "a number that is negative, has a fraction, or may have been rounded"
    }

    /// An identifier of an old format, as text or as digits.
    static func looseId(
        _ value: JSON.Value,
        named name: @autoclosure () -> String,
        byteCountMax: Int = identifierByteCountMax
    ) throws(Rejection) -> String {
        let bytes = try looseIdBytes(value, named: name(), byteCountMax: byteCountMax)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The UTF-8 of such an identifier.
    static func looseIdBytes(
        _ value: JSON.Value,
        named name: @autoclosure () -> String,
        byteCountMax: Int = identifierByteCountMax
    ) throws(Rejection) -> ArraySlice<UInt8> {
        guard let bytes = idBytes(value) else {
            throw Rejection(
                .idMalformed,
                "\(name()) must be text or digits; found \(found(value))."
            )
        }
        try checkIdentifier(bytes, name(), byteCountMax: byteCountMax)
        return bytes
    }

    /// The id of a transaction in an old format.
    static func transactionId(
        _ value: JSON.Value,
        named name: @autoclosure () -> String
    ) throws(Rejection) -> String {
        try looseId(value, named: name(), byteCountMax: StreamID.idByteCountMax)
    }

    /// Refuses an identifier that is too long or holds control characters.
    static func checkIdentifier(
        _ text: String,
        _ name: @autoclosure () -> String,
        byteCountMax: Int
    ) throws(Rejection) {
        try checkIdentifier(Array(text.utf8)[...], name(), byteCountMax: byteCountMax)
    }

    /// The same for its UTF-8.
    static func checkIdentifier(
        _ utf8: ArraySlice<UInt8>,
        _ name: @autoclosure () -> String,
        byteCountMax: Int
    ) throws(Rejection) {
        guard utf8.count <= byteCountMax else {
            throw Rejection(
                .idMalformed,
                "\(name()) has \(utf8.count) bytes; at most \(byteCountMax) are accepted."
            )
        }
        guard !hasControlCharacters(utf8) else {
            throw Rejection(.idMalformed, "\(name()) contains control characters.")
        }
    }

    static func hasControlCharacters(_ text: String) -> Bool {
        hasControlCharacters(Array(text.utf8)[...])
    }

    static func hasControlCharacters(_ utf8: ArraySlice<UInt8>) -> Bool {
        utf8.withUnsafeBytes { bytes in
            // Or-ing all results avoids a branch per byte; nearly always every byte is checked
            // anyway.
            var found: UInt8 = 0
            for byte in bytes { found |= (byte < 0x20 ? 1 : 0) | (byte == 0x7f ? 1 : 0) }
            return found != 0
        }
    }
}
