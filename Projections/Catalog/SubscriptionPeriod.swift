/// The length of a subscription period or of an offer, in Apple's units.
///
/// `P7D` and `P1W` are the same length, as are `P12M` and `P1Y`; a month is not a fixed number of
/// days.
public struct SubscriptionPeriod: RawRepresentable, Codable, Hashable, Sendable {
    /// The unit of a length.
    public enum Unit: Sendable {
        /// A day; a week is stored as seven.
        case day
        /// A month; a year is stored as twelve.
        case month
    }

    /// The number of units, from 1.
    public let count: Int
    /// The unit.
    public let unit: Unit

    /// The highest number in front of a unit: Apple sells nothing as long as a thousand weeks.
    public static let countMax = 1000

    /// The period that an ISO 8601 duration names: `P1W`, `P1M`, `P3M`, `P1Y` …; nil for anything
    /// else.
    ///
    /// Only one unit, and only days or longer: App Store Connect offers no others.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "P"), let last = bytes.last,
            let number = SubscriptionPeriod.number(bytes.dropFirst().dropLast())
        else { return nil }
        switch last {
        case UInt8(ascii: "D"): (count, unit) = (number, .day)
        case UInt8(ascii: "W"): (count, unit) = (number * 7, .day)
        case UInt8(ascii: "M"): (count, unit) = (number, .month)
        case UInt8(ascii: "Y"): (count, unit) = (number * 12, .month)
        default: return nil
        }
    }

    /// The period that a stored text names.
    public init?(rawValue: String) { self.init(rawValue) }

    /// The text that is stored.
    public var rawValue: String { description }

    // Not Int's own initialiser, which accepts a sign.
    private static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...4).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            number = number * 10 + Int(digit - 48)
        }
        return (1...countMax).contains(number) ? number : nil
    }
}

extension SubscriptionPeriod: CustomStringConvertible {
    /// ISO 8601, in the largest unit that divides it: `P1W`, `P1M`, `P1Y`.
    public var description: String {
        switch unit {
        case .day: count % 7 == 0 ? "P\(count / 7)W" : "P\(count)D"
        case .month: count % 12 == 0 ? "P\(count / 12)Y" : "P\(count)M"
        }
    }
}
