/// Strict, table-driven base64 over bytes; Foundation's takes milliseconds for one notification.
///
/// Strict means one alphabet, no white space, padding exactly as the form demands, and zero in the
/// bits that carry no data, so each text has one decoding and each byte sequence has one text.
package enum Base64 {
    /// The bytes of unpadded base64url (RFC 7515 §2); nil unless the text is canonical.
    package static func decodeURLUnpadded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        decode(text, with: urlTable)
    }

    /// The bytes of padded standard base64 (RFC 4648 §4); nil unless the text is canonical.
    package static func decodeStandard(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var body = text
        for _ in 0..<2 where body.last == UInt8(ascii: "=") { body.removeLast() }
        return decode(body, with: standardTable)
    }

    /// Whether a byte belongs to the base64url alphabet; for a whole text, use `isURLText`.
    package static func isURLCharacter(_ byte: UInt8) -> Bool {
        urlTable[Int(byte)] & invalid == 0
    }

    /// Whether every byte belongs to the base64url alphabet or equals `other`.
    ///
    /// Uses neither a table nor a branch, so the compiler can process many bytes at a time.
    package static func isURLText(
        _ text: ArraySlice<UInt8>,
        orAnyOf other: UInt8 = UInt8(ascii: "-")
    ) -> Bool {
        text.withUnsafeBufferPointer { bytes in
            var isForeign: UInt8 = 0
            for byte in bytes {
                let isLetter: UInt8 = (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 1 : 0
                let isDigit: UInt8 = byte &- UInt8(ascii: "0") < 10 ? 1 : 0
                let isDash: UInt8 = byte == UInt8(ascii: "-") ? 1 : 0
                let isLine: UInt8 = byte == UInt8(ascii: "_") ? 1 : 0
                let isOther: UInt8 = byte == other ? 1 : 0
                isForeign |= (isLetter | isDigit | isDash | isLine | isOther) ^ 1
            }
            return isForeign == 0
        }
    }

    // An invalid character sets the top bit, which no valid one touches.
    private static let invalid: UInt32 = 1 << 31
    private static let urlTable = table("-", "_")
    private static let standardTable = table("+", "/")

    // Four tables in one, for the first to the fourth character of a group: an entry holds the
    // character's six bits at their place in the group's three bytes, the first byte lowest. Or-ing
    // four look-ups gives the group.
    private static func table(
        _ sixtyTwo: Unicode.Scalar,
        _ sixtyThree: Unicode.Scalar
    ) -> [UInt32] {
        var table = [UInt32](repeating: invalid, count: 1024)
        let characters = letters.unicodeScalars.map(\.value) + [sixtyTwo.value, sixtyThree.value]
        for (value, character) in characters.enumerated() {
            let bits = UInt32(value)
            let index = Int(character)
            table[index] = bits << 2
            table[256 + index] = bits >> 4 | (bits & 15) << 12
            table[512 + index] = (bits >> 2) << 8 | (bits & 3) << 22
            table[768 + index] = bits << 16
        }
        return table
    }

    private static func decode(_ text: ArraySlice<UInt8>, with table: [UInt32]) -> [UInt8]? {
        let tail = text.count % 4
        guard tail != 1 else { return nil }
        var isValid = true
        let count = text.count / 4 * 3 + (tail == 0 ? 0 : tail - 1)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, written in
            text.withUnsafeBufferPointer { input in
                table.withUnsafeBufferPointer { table in
                    isValid = decodeGroups(
                        input,
                        table,
                        into: UnsafeMutableRawBufferPointer(output)
                    )
                }
            }
            written = isValid ? count : 0
        }
        return isValid ? bytes : nil
    }

    // Or-ing all groups and testing the top bit once finds any invalid character without a branch
    // in the loop. Each step stores four bytes for three, as long as there is room for the fourth.
    private static func decodeGroups(
        _ input: UnsafeBufferPointer<UInt8>,
        _ table: UnsafeBufferPointer<UInt32>,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var seen: UInt32 = 0
        var (read, write) = (0, 0)
        while write + 4 <= output.count, read + 4 <= input.count {
            let group = group(of: input, at: read, table)
            seen |= group
            output.storeBytes(of: group.littleEndian, toByteOffset: write, as: UInt32.self)
            read += 4
            write += 3
        }
        guard seen & invalid == 0 else { return false }
        while read < input.count {
            let count = min(4, input.count - read)
            guard let bytes = bytes(ofGroup: input, at: read, count: count, table) else {
                return false
            }
            for offset in 0..<count - 1 {
                output[write + offset] = UInt8(truncatingIfNeeded: bytes >> UInt32(8 * offset))
            }
            read += count
            write += count - 1
        }
        return true
    }

    @inline(__always)
    private static func group(
        of input: UnsafeBufferPointer<UInt8>,
        at index: Int,
        _ table: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        table[Int(input[index])] | table[256 + Int(input[index + 1])]
            | table[512 + Int(input[index + 2])] | table[768 + Int(input[index + 3])]
    }

    // The last groups, one of which may be short: its unused bits must be zero.
    private static func bytes(
        ofGroup input: UnsafeBufferPointer<UInt8>,
        at index: Int,
        count: Int,
        _ table: UnsafeBufferPointer<UInt32>
    ) -> UInt32? {
        var group: UInt32 = 0
        for offset in 0..<count { group |= table[256 * offset + Int(input[index + offset])] }
        return group >> UInt32(8 * (count - 1)) == 0 ? group : nil
    }
}

extension Base64 {
    /// Appends the unpadded base64url text of some bytes.
    package static func encodeURLUnpadded(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        encode(bytes, with: urlDigits, padding: false, to: &text)
    }

    /// Appends the padded standard base64 text of some bytes.
    package static func encodeStandard(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        encode(bytes, with: standardDigits, padding: true, to: &text)
    }

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let urlDigits = Array((letters + "-_").utf8)
    private static let standardDigits = Array((letters + "+/").utf8)

    private static func encode(
        _ bytes: ArraySlice<UInt8>,
        with digits: [UInt8],
        padding: Bool,
        to text: inout [UInt8]
    ) {
        let tail = bytes.count % 3
        let tailCount = tail == 0 ? 0 : (padding ? 4 : tail + 1)
        let count = bytes.count / 3 * 4 + tailCount
        // A separate buffer: reserving room in `text` for each piece would copy it each time.
        text += [UInt8](unsafeUninitializedCapacity: count) { output, written in
            bytes.withUnsafeBufferPointer { input in
                digits.withUnsafeBufferPointer { encodeBlocks(input, $0, into: output) }
            }
            written = count
        }
    }

    private static func encodeBlocks(
        _ input: UnsafeBufferPointer<UInt8>,
        _ digits: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) {
        var read = 0
        var write = 0
        while input.count - read >= 3 {
            let group =
                UInt32(input[read]) << 16 | UInt32(input[read + 1]) << 8 | UInt32(input[read + 2])
            output[write] = digits[Int(group >> 18)]
            output[write + 1] = digits[Int(group >> 12 & 63)]
            output[write + 2] = digits[Int(group >> 6 & 63)]
            output[write + 3] = digits[Int(group & 63)]
            read += 3
            write += 4
        }
        guard read < input.count else { return }
        let hasTwo = input.count - read == 2
        let group = UInt32(input[read]) << 16 | UInt32(hasTwo ? input[read + 1] : 0) << 8
        output[write] = digits[Int(group >> 18)]
        output[write + 1] = digits[Int(group >> 12 & 63)]
        if hasTwo { output[write + 2] = digits[Int(group >> 6 & 63)] }
        let padding = UInt8(ascii: "=")
        for index in write + (hasTwo ? 3 : 2)..<max(output.count, write + (hasTwo ? 3 : 2)) {
            output[index] = padding
        }
    }
}
