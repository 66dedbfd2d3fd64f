internal import Events

/// Finds the parts of a text that the frame of a packed payload encodes in another way.
enum EvidenceText {
    /// The kind of a part.
    enum Place {
        /// A value that is likely to differ from payload to payload.
        case value
        /// A UUID in lower-case hexadecimal.
        case uuid
        /// A byte that would be read as a mark.
        case mark
    }

    /// The longest text that may be a value, in bytes; UUIDs, dates and product ids are shorter.
    private static let valueByteCountMax = 256

    /// The shortest value, in bytes, that varies between payloads if it contains a digit or dot: a
    /// shorter one is a status, a version or a period.
    private static let variableByteCountMin = 4

    private static let quote = UInt8(ascii: "\"")
    private static let colon = UInt8(ascii: ":")
    private static let space = UInt8(ascii: " ")
    private static let backslash = UInt8(ascii: "\\")
    private static let dash = UInt8(ascii: "-")

    /// Whether it has no control characters other than those between lines of JSON.
    static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var isForeign: UInt8 = 0
            for byte in bytes {
                let isControl: UInt8 = byte < space ? 1 : 0
                let isLine: UInt8 = byte &- 9 < 2 ? 1 : 0
                let isReturn: UInt8 = byte == 13 ? 1 : 0
                isForeign |= isControl ^ (isLine | isReturn)
            }
            return isForeign == 0
        }
    }

    /// The next part that the frame encodes in another way, and its range.
    static func nextPlace(
        in text: ArraySlice<UInt8>,
        from start: Int
    ) -> (place: Place, range: Range<Int>)? {
        let offset = text.startIndex
        let found = text.withUnsafeBufferPointer { nextPlace(in: $0, from: start - offset) }
        return found.map { place, range in
            (place, range.lowerBound + offset..<range.upperBound + offset)
        }
    }

    // Marks, and the colon that precedes a value.
    private static let isStop: [Bool] = (0...255).map { (byte: Int) -> Bool in
        EvidencePacking.Mark.all.contains(UInt8(byte)) || UInt8(byte) == colon
    }

    private static func nextPlace(
        in text: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> (place: Place, range: Range<Int>)? {
        isStop.withUnsafeBufferPointer { isStop in
            var position = start
            while position < text.count {
                guard isStop[Int(text[position])] else {
                    position += 1
                    continue
                }
                guard text[position] == colon else { return (.mark, position..<position + 1) }
                // Bytes before `start` were already processed.
                let isAfterName = position > start && text[position - 1] == quote
                position += 1
                if isAfterName, let found = value(in: text, from: position) { return found }
            }
            return nil
        }
    }

    /// The value that begins here, if it is likely to vary.
    private static func value(
        in text: UnsafeBufferPointer<UInt8>,
        from position: Int
    ) -> (place: Place, range: Range<Int>)? {
        var start = position
        while start < text.count, text[start] == space { start += 1 }
        guard start < text.count else { return nil }
        let isQuoted = text[start] == quote
        if isQuoted { start += 1 }
        var end = start
        var kinds = Kinds()
        while end < text.count, end - start <= valueByteCountMax {
            let byte = text[end]
            if isQuoted ? byte == quote : !(isDigit(byte) || byte == EvidenceText.dot) { break }
            guard byte >= space, byte != backslash else { return nil }
            kinds.insert(byte)
            end += 1
        }
        guard end - start <= valueByteCountMax, !isQuoted || end < text.count else { return nil }
        let value = UnsafeBufferPointer(rebasing: text[start..<end])
        if isUUID(value) { return (.uuid, start..<end) }
        return isVariable(value, kinds, isQuoted: isQuoted) ? (.value, start..<end) : nil
    }

    private static let dot = UInt8(ascii: ".")

    /// The kinds of characters in a value.
    private struct Kinds {
        private(set) var hasDigits = false
        private(set) var hasDots = false
        private(set) var hasCapitals = false
        private(set) var hasOthers = false

        mutating func insert(_ byte: UInt8) {
            if isDigit(byte) {
                hasDigits = true
            } else if byte == EvidenceText.dot {
                hasDots = true
            } else if byte &- UInt8(ascii: "A") < 26 {
                hasCapitals = true
            } else {
                hasOthers = true
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    // The choice of values to move out of the text was measured; whatever this returns, the payload
    // can be restored.
    private static func isVariable(
        _ value: UnsafeBufferPointer<UInt8>,
        _ kinds: Kinds,
        isQuoted: Bool
    ) -> Bool {
        if value.count >= variableByteCountMin { return kinds.hasDigits || kinds.hasDots }
        guard isQuoted, value.count > 1, !kinds.hasDots, !kinds.hasOthers else { return false }
        // Also variable: the version of an app, and codes of countries and currencies.
        return kinds.hasCapitals ? value.count == 3 && !kinds.hasDigits : kinds.hasDigits
    }

    private static let uuidDashes = [8, 13, 18, 23]
    private static let uuidTextByteCount = 36

    private static func isUUID(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard value.count == uuidTextByteCount else { return false }
        for (index, byte) in value.enumerated() {
            let isHexadecimal = isDigit(byte) || byte &- UInt8(ascii: "a") < 6
            guard uuidDashes.contains(index) ? byte == dash : isHexadecimal else { return false }
        }
        return true
    }

    /// The sixteen bytes of a UUID in the text.
    static func uuidBytes(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text where byte != dash {
            let digit = isDigit(byte) ? byte & 15 : byte &- UInt8(ascii: "a") &+ 10
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    /// The text of a UUID with these sixteen bytes.
    static func uuidText(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(uuidTextByteCount)
        for byte in bytes {
            if uuidDashes.contains(text.count) { text.append(dash) }
            for digit in [byte >> 4, byte & 15] {
                text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
            }
        }
        return text
    }
}
