/// Text in UTF-16, as Excel and PowerShell write it: recognised by its byte order mark.
struct UTF16Text: Sendable {
    private let isBigEndian: Bool
    // Half a unit, or the first half of a character.
    private var rest: [UInt8] = []

    /// A reader for a text that starts with these bytes; nil if it has another encoding.
    init?(startingWith bytes: [UInt8]) {
        switch (bytes.first, bytes.dropFirst().first) {
        case (0xff, 0xfe): isBigEndian = false
        case (0xfe, 0xff): isBigEndian = true
        default: return nil
        }
    }

    /// The next bytes in UTF-8; what is not UTF-16 becomes U+FFFD.
    mutating func utf8(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        let bytes = rest + bytes
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        var units: [UInt16] = []
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            units.append(UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + low]))
        }
        if let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        rest = Array(bytes.dropFirst(units.count * 2))
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
