extension ExtraObject.Member {
    /// The value for a field that holds JSON; nil if it is neither an object nor an array.
    var document: FieldValue? {
        guard raw.first == UInt8(ascii: "{") || raw.first == UInt8(ascii: "[") else { return nil }
        return String(raw).map(FieldValue.text)
    }
}

extension ExtraObject {
    /// The text of a member; nil if it is not a string.
    package func text(_ name: String) -> String? {
        self[name].flatMap(ExtraObject.text)
    }

    /// The number of a member; nil unless it is an integer.
    package func integer(_ name: String) -> Int64? {
        self[name].flatMap { String($0) }.flatMap { Int64($0) }
    }

    /// A member's milliseconds as an instant; nil unless they are an integer, and of the calendar.
    package func instant(_ name: String) -> Instant? {
        let instant = integer(name).map { Instant(milliseconds: $0) }
        return instant.flatMap { Instant.calendar.contains($0) ? $0 : nil }
    }

    /// The text of a JSON string; nil for other values.
    package static func text(_ raw: Substring.UTF8View) -> String? {
        guard raw.count >= 2, raw.first == UInt8(ascii: "\""), raw.last == UInt8(ascii: "\"") else {
            return nil
        }
        return JSONString.decoded(Array(raw)[1...].dropLast()).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
