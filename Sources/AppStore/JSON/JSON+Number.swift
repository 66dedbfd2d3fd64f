extension JSON.Value {
    /// The value of a whole number; nil if it has a fraction, exceeds `Int64` or is not a number.
    ///
    /// `12`, `12.0` and `1.2e1` are twelve.
    package var integer: Int64? {
        guard kind == .number else { return nil }
        if let digits = plainInteger { return digits }
        guard let decimal = JSON.Decimal(bytes), !decimal.hasFraction else { return nil }
        return decimal.whole
    }

    /// The number without its fraction; nil if it exceeds `Int64` or is not a number.
    ///
    /// Xcode writes milliseconds with a fraction: `1697679936049.7297` (Apple's data: Xcode data).
    package var truncatedInteger: Int64? {
        guard kind == .number else { return nil }
        return plainInteger ?? JSON.Decimal(bytes)?.whole
    }

    // Nearly every number has only digits, and too few to exceed `Int64`.
    private var plainInteger: Int64? {
        storage.withUnsafeBuffers { bytes, nodes in
            let node = nodes[index]
            guard node.end - node.start <= JSON.Decimal.plainDigitCountMax else { return nil }
            var number: Int64 = 0
            for position in Int(node.start)..<Int(node.end) {
                let digit = bytes[position] &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                number = number &* 10 &+ Int64(digit)
            }
            return number
        }
    }

    /// Whether this is a number written as digits only, as an id might be.
    package var isPlainInteger: Bool {
        kind == .number && bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
    }

    /// The digits of a whole number that a program wrote as floating point, such as
    /// `150001223579830.0`; nil for other values.
    ///
    /// Also nil above 2^53: there, floating point may have changed the number.
    package var floatingPointDigits: String? {
        guard kind == .number, !isPlainInteger, let decimal = JSON.Decimal(bytes),
            !decimal.hasFraction, (0...JSON.Decimal.exactFloatingPointMax).contains(decimal.whole)
        else { return nil }
        return String(decimal.whole)
    }
}

extension JSON {
    /// A number's whole part, exactly, and whether anything follows it.
    ///
    /// Works on the digits: going through a `Double` would change ids and dates above 2^53.
    struct Decimal {
        let whole: Int64
        let hasFraction: Bool

        /// Most digits that fit into an `Int64` whatever they are.
        static let plainDigitCountMax = 18

        /// The greatest number up to which floating point represents every whole number.
        static let exactFloatingPointMax: Int64 = 1 << 53

        /// Reads the bytes of a JSON number; nil if the whole part exceeds `Int64`.
        init?(_ bytes: ArraySlice<UInt8>) {
            var digits: [UInt8] = []
            var pointPosition: Int?
            var rest = bytes
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest.removeFirst() }
            while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
                if byte == UInt8(ascii: ".") {
                    pointPosition = digits.count
                } else {
                    digits.append(byte - UInt8(ascii: "0"))
                }
                rest.removeFirst()
            }
            guard let exponent = Decimal.exponent(rest.dropFirst()) else { return nil }
            let wholeCount = (pointPosition ?? digits.count) + exponent
            guard let whole = Decimal.whole(digits, count: wholeCount, isNegative: isNegative)
            else { return nil }
            self.whole = whole
            hasFraction = digits.dropFirst(max(0, wholeCount)).contains { $0 != 0 }
        }

        // The parser refuses exponents with more than three digits.
        private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
            text.isEmpty ? 0 : Int(String(decoding: text, as: UTF8.self))
        }

        private static func whole(_ digits: [UInt8], count: Int, isNegative: Bool) -> Int64? {
            var number: Int64 = 0
            guard digits.contains(where: { $0 != 0 }) else { return 0 }
            for position in 0..<max(0, count) {
                let digit = Int64(position < digits.count ? digits[position] : 0)
                let (shifted, overflow) = number.multipliedReportingOverflow(by: 10)
                let (sum, carry) =
                    isNegative
                    ? shifted.subtractingReportingOverflow(digit)
                    : shifted.addingReportingOverflow(digit)
                guard !overflow, !carry else { return nil }
                number = sum
            }
            return number
        }
    }
}
