internal import Events

extension JSON {
    /// The value of a hexadecimal digit; nil for any other letter.
    static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The byte that two hexadecimal digits at this place write; nil for anything else.
    static func hexadecimalByte(_ text: ArraySlice<UInt8>, at position: Int) -> UInt8? {
        guard position + 1 < text.endIndex, let high = hexadecimalDigit(text[position]),
            let low = hexadecimalDigit(text[position + 1])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes the raw bytes of a string to UTF-8; the parser has checked the escapes.
    static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(raw.count)
        var position = raw.startIndex
        while position < raw.endIndex {
            let byte = raw[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                output.append(byte)
                continue
            }
            let letter = raw[position]
            position += 1
            switch letter {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0c)
            case UInt8(ascii: "n"): output.append(0x0a)
            case UInt8(ascii: "r"): output.append(0x0d)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"): appendCharacter(of: raw, at: &position, to: &output)
            default: output.append(letter)
            }
        }
        return output
    }

    private static func appendCharacter(
        of raw: ArraySlice<UInt8>,
        at position: inout Int,
        to output: inout [UInt8]
    ) {
        var scalar = codeUnit(of: raw, at: &position)
        if (0xd800...0xdbff).contains(scalar) {
            position += 2
            let low = codeUnit(of: raw, at: &position)
            scalar = 0x10000 + (scalar - 0xd800) << 10 + (low - 0xdc00)
        }
        output.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{fffd}").utf8)
    }

    private static func codeUnit(of raw: ArraySlice<UInt8>, at position: inout Int) -> UInt32 {
        var unit: UInt32 = 0
        for byte in raw[position..<position + 4] {
            unit = unit << 4 | UInt32(hexadecimalDigit(byte) ?? 0)
        }
        position += 4
        return unit
    }
}

extension JSON.Value {
    /// The canonical text of the value: no white space, names sorted by their UTF-8, numbers as
    /// written, strings escaped as little as possible.
    package var canonicalText: [UInt8] {
        var output: [UInt8] = []
        appendCanonical(to: &output)
        return output
    }

    func appendCanonical(to output: inout [UInt8]) {
        switch kind {
        case .null, .true, .false, .number: output.append(contentsOf: bytes)
        case .string: JSONString.append(utf8 ?? [], to: &output)
        case .array:
            output.append(UInt8(ascii: "["))
            for (count, element) in elements.enumerated() {
                if count > 0 { output.append(UInt8(ascii: ",")) }
                element.appendCanonical(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object:
            var object = JSON.CanonicalObject()
            for (name, value) in members { object.add(name.utf8 ?? [], value.canonicalText) }
            object.append(to: &output)
        }
    }
}

extension JSON {
    /// Collects members in any order and writes them sorted by the UTF-8 of their names.
    struct CanonicalObject {
        private var members: [(name: ArraySlice<UInt8>, text: [UInt8])] = []

        var isEmpty: Bool { members.isEmpty }

        mutating func add(_ name: ArraySlice<UInt8>, _ canonicalText: [UInt8]) {
            members.append((name, canonicalText))
        }

        func append(to output: inout [UInt8]) {
            let sorted = members.sorted { $0.name.lexicographicallyPrecedes($1.name) }
            output.append(UInt8(ascii: "{"))
            for (count, member) in sorted.enumerated() {
                if count > 0 { output.append(UInt8(ascii: ",")) }
                JSONString.append(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                output.append(contentsOf: member.text)
            }
            output.append(UInt8(ascii: "}"))
        }

        var canonicalText: [UInt8] {
            var output: [UInt8] = []
            append(to: &output)
            return output
        }

        /// An object for one of the operator's statements: texts, whole numbers, and nil for null.
        init(_ members: KeyValuePairs<String, OwnValue?>) {
            for (name, value) in members {
                var text: [UInt8] = []
                switch value {
                case .text(let value): JSONString.append(value.utf8, to: &text)
                case .number(let value): text = Array(String(value).utf8)
                case nil: text = Array("null".utf8)
                }
                add(Array(name.utf8)[...], text)
            }
        }

        init() {}
    }

    /// A value in one of the operator's statements.
    enum OwnValue {
        case text(String)
        case number(Int64)
    }
}
