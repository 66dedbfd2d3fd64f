/// The length of a subscription period or of an offer, in Apple's units.
///
/// `P7D` and `P1W` are one length, `P12M` and `P1Y` another; a month is no number of days.
public struct SubscriptionPeriod: Hashable, Sendable {
    /// What lengths are counted in.
    public enum Unit: Sendable {
        /// A day; weeks are kept as seven.
        case day
        /// A month; years are kept as twelve.
        case month
    }

    /// How many units; from 1.
    public let count: Int
    /// Which unit.
    public let unit: Unit

    /// Highest number in front of a unit: a thousand weeks is nothing that Apple sells.
    public static let countMax = 1000

    /// The period an ISO 8601 duration names: `P1W`, `P1M`, `P3M`, `P1Y` …; nil for anything else.
    ///
    /// Only one unit, and only of days or longer: App Store Connect offers no others.
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

    // Not Int's own reading, which takes a sign.
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
    /// ISO 8601, in the greatest unit that holds it: `P1W`, `P1M`, `P1Y`.
    public var description: String {
        switch unit {
        case .day: count % 7 == 0 ? "P\(count / 7)W" : "P\(count)D"
        case .month: count % 12 == 0 ? "P\(count / 12)Y" : "P\(count)M"
        }
    }
}
