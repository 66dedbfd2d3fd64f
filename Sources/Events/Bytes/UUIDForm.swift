extension String {
    /// Whether it is written like a UUID: 32 hexadecimal digits of either case in groups of 8, 4,
    /// 4, 4 and 12, with hyphens between them.
    package var hasFormOfUUID: Bool {
        guard utf8.count == 36 else { return false }
        var index = 0
        for byte in utf8 {
            switch index {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default:
                // The letters of both cases differ in one bit.
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
                if !isDigit && !isLetter { return false }
            }
            index += 1
        }
        return true
    }

    /// The spellings under which it may be recorded: a UUID is the same in either case.
    package var spellingsOfUUID: [String] {
        hasFormOfUUID ? [self, lowercased(), uppercased()] : [self]
    }
}
