/// Strict base64 over bytes, table-driven: Foundation's takes milliseconds for a notification.
///
/// Strict means: one alphabet, no white space, padding exactly as the form demands, and zero in
/// the bits that carry no data, so that a text has one decoding and bytes have one text.
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

    /// Whether a byte belongs to the base64url alphabet.
    package static func isURLCharacter(_ byte: UInt8) -> Bool {
        urlTable[Int(byte)] != invalid
    }

    private static let invalid: UInt8 = 0xff
    private static let urlTable = table("-", "_")
    private static let standardTable = table("+", "/")

    private static func table(_ sixtyTwo: Unicode.Scalar, _ sixtyThree: Unicode.Scalar) -> [UInt8] {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in letters.utf8.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        table[Int(sixtyTwo.value)] = 62
        table[Int(sixtyThree.value)] = 63
        return table
    }

    private static func decode(_ text: ArraySlice<UInt8>, with table: [UInt8]) -> [UInt8]? {
        let tail = text.count % 4
        guard tail != 1 else { return nil }
        var isValid = true
        let count = text.count / 4 * 3 + (tail == 0 ? 0 : tail - 1)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, written in
            text.withUnsafeBufferPointer { input in
                table.withUnsafeBufferPointer { table in
                    isValid = decodeBlocks(input, table, into: output)
                }
            }
            written = isValid ? count : 0
        }
        return isValid ? bytes : nil
    }

    // A valid character maps to six bits and an invalid one to 0xff, so or-ing all of them and
    // looking at the top bits once finds any invalid character without a branch in the loop.
    private static func decodeBlocks(
        _ input: UnsafeBufferPointer<UInt8>,
        _ table: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        var seen: UInt8 = 0
        var (read, write) = (0, 0)
        let whole = input.count & ~3
        while read < whole {
            let first = table[Int(input[read])], second = table[Int(input[read + 1])]
            let third = table[Int(input[read + 2])], fourth = table[Int(input[read + 3])]
            seen |= first | second | third | fourth
            output[write] = first << 2 | second >> 4
            output[write + 1] = second << 4 | third >> 2
            output[write + 2] = third << 6 | fourth
            read += 4
            write += 3
        }
        guard seen < 64 else { return false }
        guard read < input.count else { return true }
        let first = table[Int(input[read])], second = table[Int(input[read + 1])]
        guard first | second < 64 else { return false }
        output[write] = first << 2 | second >> 4
        guard input.count - read == 3 else { return second & 0x0f == 0 }
        let third = table[Int(input[read + 2])]
        guard third < 64 else { return false }
        output[write + 1] = second << 4 | third >> 2
        return third & 0x03 == 0
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
        // A buffer of its own: reserving room in `text` for each piece would copy it each time.
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
