/// Strict base64 over bytes.
///
/// Foundation's takes milliseconds for an 18 kB notification; this is table-driven. A text is
/// accepted only if encoding its bytes gives the same text back, so that a payload has one form.
public enum Base64 {
    /// Which of the two alphabets of RFC 4648, and with it the padding.
    public enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=` (certificates, receipts).
        case standard
        /// `-` and `_`, never padded (JWS).
        case url
    }

    /// The bytes that a text stands for; nil unless it is exactly what `encode` would write.
    public static func decode(_ text: ArraySlice<UInt8>, as alphabet: Alphabet) -> [UInt8]? {
        var digits = text
        if alphabet == .standard {
            guard text.count % 4 == 0 else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits = digits.dropLast() }
        }
        let tail = digits.count % 4
        guard tail != 1 else { return nil }
        let table = alphabet == .standard ? standardValues : urlValues
        let byteCount = digits.count / 4 * 3 + (tail == 0 ? 0 : tail - 1)
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { output, initialized in
            isValid = digits.withUnsafeBufferPointer { input in
                table.withUnsafeBufferPointer { decode(input, $0, into: output) }
            }
            initialized = isValid ? byteCount : 0
        }
        return isValid ? bytes : nil
    }

    /// Appends the text of some bytes.
    public static func encode(
        _ bytes: ArraySlice<UInt8>,
        as alphabet: Alphabet,
        to output: inout [UInt8]
    ) {
        let digits = alphabet == .standard ? standardDigits : urlDigits
        output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
        var rest = bytes
        while rest.count >= 3 {
            let index = rest.startIndex
            let group =
                UInt32(rest[index]) << 16 | UInt32(rest[index + 1]) << 8 | UInt32(rest[index + 2])
            output.append(digits[Int(group >> 18)])
            output.append(digits[Int(group >> 12 & 63)])
            output.append(digits[Int(group >> 6 & 63)])
            output.append(digits[Int(group & 63)])
            rest = rest.dropFirst(3)
        }
        guard let first = rest.first else { return }
        let second = rest.count == 2 ? rest[rest.startIndex + 1] : 0
        let group = UInt32(first) << 16 | UInt32(second) << 8
        output.append(digits[Int(group >> 18)])
        output.append(digits[Int(group >> 12 & 63)])
        if rest.count == 2 { output.append(digits[Int(group >> 6 & 63)]) }
        if alphabet == .standard {
            output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - rest.count))
        }
    }

    private static func decode(
        _ input: UnsafeBufferPointer<UInt8>,
        _ table: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        var read = 0
        var write = 0
        var seen: UInt8 = 0
        while input.count - read >= 4 {
            let (a, b) = (table[Int(input[read])], table[Int(input[read + 1])])
            let (c, d) = (table[Int(input[read + 2])], table[Int(input[read + 3])])
            seen |= a | b | c | d
            output[write] = a << 2 | b >> 4
            output[write + 1] = b << 4 | c >> 2
            output[write + 2] = c << 6 | d
            read += 4
            write += 3
        }
        if input.count - read >= 2 {
            let (a, b) = (table[Int(input[read])], table[Int(input[read + 1])])
            seen |= a | b
            output[write] = a << 2 | b >> 4
            if input.count - read == 3 {
                let c = table[Int(input[read + 2])]
                seen |= c
                output[write + 1] = b << 4 | c >> 2
                // Bits that belong to no byte must be zero: else two texts would mean the same.
                guard c & 0x03 == 0 else { return false }
            } else {
                guard b & 0x0f == 0 else { return false }
            }
        }
        return seen & invalid == 0
    }

    // A value of six bits leaves this one free to mark what is no digit.
    private static let invalid: UInt8 = 0x80
    private static let standardDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
    private static let urlDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
    private static let standardValues = values(of: standardDigits)
    private static let urlValues = values(of: urlDigits)

    private static func values(of digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
