/// Generates JSON texts with all kinds of values, and damages them.
enum RandomJSON {
    static func text(using generator: inout SeededGenerator) -> String {
        value(depth: 0, using: &generator)
    }

    static func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        let alphabet = Array("{}[]\",:\\u0019aeE+-.tfn \n".utf8) + [0x00, 0x1f, 0x80, 0xc3, 0xa9]
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let position = Int.random(in: 0...bytes.count, using: &generator)
            let byte = alphabet.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes.insert(byte, at: position)
            case 1 where position < bytes.count: bytes[position] = byte
            default: if position < bytes.count { bytes.remove(at: position) }
            }
        }
    }

    private static func value(depth: Int, using generator: inout SeededGenerator) -> String {
        let space = [" ", "", "", "\n\t"].randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &generator) {
        case 0: return ["null", "true", "false"].randomElement(using: &generator) ?? "null"
        case 1, 2: return number(using: &generator)
        case 3, 4: return string(using: &generator)
        case 5:
            let elements = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
                value(depth: depth + 1, using: &generator)
            }
            return "[" + space + elements.joined(separator: "," + space) + space + "]"
        default:
            let members = (0..<Int.random(in: 0..<5, using: &generator)).map { index in
                let name = string(using: &generator).dropFirst()
                return "\"\(index)\(name):" + value(depth: depth + 1, using: &generator)
            }
            return "{" + members.joined(separator: space + ",") + "}" + space
        }
    }

    private static func number(using generator: inout SeededGenerator) -> String {
        let sign = Bool.random(using: &generator) ? "-" : ""
        let whole = String(UInt64.random(in: 0...UInt64.max, using: &generator) >> 11)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return sign + whole
        case 1: return sign + whole.prefix(5) + "." + whole
        case 2: return sign + whole.prefix(3) + "e-12"
        default: return "0.25E+3"
        }
    }

    private static func string(using generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", "0", " ", "é", "€", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
            "\\ud83d\\ude00", "abcdefgh", "signedDate",
        ]
        let text = (0..<Int.random(in: 0..<8, using: &generator)).map { _ in
            pieces.randomElement(using: &generator) ?? ""
        }
        return "\"" + text.joined() + "\""
    }
}

extension RandomJSON {
    /// An object like those of verifyReceipt (Apple's data: verifyReceipt response): many names
    /// with the same prefix.
    static func row(using generator: inout SeededGenerator) -> String {
        let words = ["purchase", "original", "expires", "date", "ms", "pst", "id", "transaction"]
        let members = (0..<Int.random(in: 0...90, using: &generator)).map { _ in
            let name = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                words.randomElement(using: &generator) ?? ""
            }
            return
                "\"\(name.joined(separator: "_"))\(Int.random(in: 0...999, using: &generator))\":"
                + "\"\(Int.random(in: 0...1_700_000_000_000, using: &generator))\""
        }
        return "{" + members.joined(separator: ", ") + "}"
    }

    /// Damages the bytes, sometimes many of them: copies, removes and flips.
    static func damageMore(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            guard !bytes.isEmpty else { return }
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3: bytes.removeSubrange(start...)
            default: damage(&bytes, using: &generator)
            }
        }
    }
}
