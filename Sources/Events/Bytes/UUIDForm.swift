extension String {
    /// Whether it is written like a UUID: 32 hexadecimal digits of either case in groups of 8, 4,
    /// 4, 4 and 12, with hyphens between them.
    package var hasFormOfUUID: Bool {
        let bytes = utf8
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: Character(Unicode.Scalar(byte)).isHexDigit && byte < 0x80
            }
        }
    }

    /// The spellings under which it may be recorded: a UUID is the same in either case.
    package var spellingsOfUUID: [String] {
        hasFormOfUUID ? [self, lowercased(), uppercased()] : [self]
    }
}
