/// Writes JSON strings in the one form that canonical texts use.
package enum JSONString {
    /// Appends a string with quotes, escaping only what must be: the quote, the backslash and
    /// control characters (in the short form if there is one, otherwise in lower-case hexadecimal).
    package static func append(_ utf8: some Sequence<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0x08: output.append(contentsOf: "\\b".utf8)
            case 0x09: output.append(contentsOf: "\\t".utf8)
            case 0x0a: output.append(contentsOf: "\\n".utf8)
            case 0x0c: output.append(contentsOf: "\\f".utf8)
            case 0x0d: output.append(contentsOf: "\\r".utf8)
            case ..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                output.append(contentsOf: "\\u00".utf8)
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Decodes what `append` wrote between the quotes; nil for an escape that it never writes.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var output: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "\\") else {
                output.append(byte)
                continue
            }
            switch rest.next() {
            case UInt8(ascii: "\""): output.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): output.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "n"): output.append(0x0a)
            case UInt8(ascii: "f"): output.append(0x0c)
            case UInt8(ascii: "r"): output.append(0x0d)
            case UInt8(ascii: "u"):
                let digits = [rest.next(), rest.next(), rest.next(), rest.next()]
                let text = String(decoding: digits.compactMap { $0 }, as: UTF8.self)
                guard digits.allSatisfy({ $0 != nil }), let control = UInt8(text, radix: 16)
                else { return nil }
                output.append(control)
            default: return nil
            }
        }
        return output
    }
}
