import Events

/// Values as the formats before JWS write them: numbers as text, flags in four spellings, and empty
/// text for a missing value (Apple's data: three generations, verifyReceipt response, odd values).
extension JSON.Value {
    /// Whether it holds no value: null, or empty text.
    var isBlank: Bool { storage.nodes[index].isBlank }

    /// Text, or the digits of a whole number; nil for other values and empty text.
    var looseText: String? {
        guard let text = Claims.idText(self), !text.isEmpty else { return nil }
        return text
    }

    /// A whole number, or text that contains one; nil for other values.
    var looseInteger: Int64? {
        kind == .string ? utf8.flatMap { JSON.wholeNumber($0) } : integer
    }

    /// `true`, `"true"`, `"1"` and `1`, or their opposites; nil for other values.
    var looseFlag: Bool? {
        switch kind {
        case .true: true
        case .false: false
        case .string where equals("true") || equals("1"): true
        case .string where equals("false") || equals("0"): false
        case .number where integer == 1: true
        case .number where integer == 0: false
        default: nil
        }
    }
}

extension JSON.Node {
    /// Whether it holds no value: null, or empty text.
    var isBlank: Bool { kind == .null || (kind == .string && start == end) }
}

extension JSON {
    /// The number in at most eighteen ASCII digits; nil for anything else.
    static func wholeNumber(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var number: Int64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }
}

extension AppleClock {
    /// A date of an old format: milliseconds as number or text, or text with a zone.
    ///
    /// Throws `date-implausible` unless it is a date from 2008 to 2199.
    static func looseInstant(
        _ value: JSON.Value,
        named name: @autoclosure () -> String
    ) throws(Rejection) -> Instant {
        if value.kind == .number { return try instant(value, named: name()) }
        guard let text = value.utf8, let instant = looseInstant(text), instant.isPlausible else {
            throw Rejection(
                .dateImplausible,
                "\(name()) is not an App Store date: expected milliseconds since 1970, or text "
                    + "like 2015-07-09 08:19:17 Etc/GMT, between the years 2008 and 2199."
            )
        }
        return instant
    }

    // The other zone Apple writes is Pacific time, always next to a date in GMT, so it is not
    // needed.
    private static func looseInstant(_ text: ArraySlice<UInt8>) -> Instant? {
        if let milliseconds = JSON.wholeNumber(text) { return Instant(milliseconds: milliseconds) }
        let zone = Array(" Etc/GMT".utf8)
        guard text.count > zone.count, text.suffix(zone.count).elementsEqual(zone) else {
            return nil
        }
        return Instant(String(decoding: text.dropLast(zone.count), as: UTF8.self))
    }
}
