/// A point in time: whole milliseconds since 1970-01-01 00:00:00 UTC.
///
/// Both Apple's clock and ours use it; a value's name (`asOf`, `recordedAt`) shows whose clock.
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch, UTC.
    public var milliseconds: Int64

    /// The instant that many milliseconds after the Unix epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The start of the second that contains this instant.
    ///
    /// iOS-6 payloads carry real milliseconds where later formats carry `000` for the same period
    /// (Apple's data: iOS 6 response), so the key of a period is floored to whole seconds.
    public var flooredToSecond: Instant {
        let remainder = milliseconds % 1000
        // The first second that `Int64` can hold is not whole.
        let down = remainder < 0 && milliseconds >= .min + 1000 ? remainder + 1000 : remainder
        return Instant(milliseconds: milliseconds - down)
    }

    /// The years 1 to 9999: nothing that the App Store or an operator states lies outside, and sums
    /// and differences of instants inside do not overflow.
    ///
    /// Whoever reads a log must expect others, because a role may insert any number.
    package static let calendar =
        Instant(milliseconds: -62_135_596_800_000)...Instant(milliseconds: 253_402_300_799_999)

    /// Whether the instant is one that App Store data can carry: from 2008 to the end of 2199.
    ///
    /// Edited samples hold 15-digit values (Apple's data: odd values); they are refused, not
    /// folded.
    public var isPlausible: Bool {
        milliseconds >= 1_199_145_600_000 && milliseconds < 7_258_118_400_000
    }

    /// The Unix epoch, before any App Store sale: as the start of a link it means from the first
    /// purchase on.
    public static let epoch = Instant(milliseconds: 0)

    /// By time.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Instant: Codable {
    /// Reads milliseconds since 1970 UTC, as in Apple's API and in every document of Subledger.
    public init(from decoder: any Decoder) throws {
        self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes milliseconds since 1970 UTC.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Instant: CustomStringConvertible {
    /// RFC 3339 in UTC, with milliseconds only if there are any.
    public var description: String {
        let floored = flooredToSecond
        let fraction = milliseconds - floored.milliseconds
        let seconds = floored.milliseconds / 1000
        let secondOfDay = ((seconds % 86_400) + 86_400) % 86_400
        let date = CivilDate(daysSinceEpoch: (seconds - secondOfDay) / 86_400)
        let time = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60]
            .map { padded($0, to: 2) }.joined(separator: ":")
        let tail = fraction == 0 ? "Z" : "." + padded(fraction, to: 3) + "Z"
        return "\(padded(date.year, to: 4))-\(padded(date.month, to: 2))-\(padded(date.day, to: 2))"
            + "T\(time)\(tail)"
    }

    /// The instant an RFC 3339 text names, or a bare date, which means midnight UTC.
    ///
    /// Accepts `2026-03-03`, `2026-03-03T09:00Z`, `2026-03-03T09:00:00Z`, a fraction of a second,
    /// a numeric offset, and a space for the `T`. Nil for anything else; never guesses a time zone:
    /// a time without one is UTC.
    public init?(_ text: String) {
        self.init(utf8: Array(text.utf8)[...])
    }

    /// The instant that a text in UTF-8 names, as above.
    public init?(utf8 text: ArraySlice<UInt8>) {
        var scanner = DigitScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2),
            scanner.skip("-"), let day = scanner.digits(2),
            year >= 1, (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard CivilDate(daysSinceEpoch: date.daysSinceEpoch) == date else { return nil }
        var total = date.daysSinceEpoch * 86_400_000
        if scanner.isAtEnd {
            self.init(milliseconds: total)
            return
        }
        guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
            let time = scanner.timeOfDayMilliseconds(), let offset = scanner.offsetMilliseconds(),
            scanner.isAtEnd
        else { return nil }
        total += time - offset
        self.init(milliseconds: total)
    }
}

private func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// A date of the proleptic Gregorian calendar.
private struct CivilDate: Equatable {
    var year: Int64
    var month: Int64
    var day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    // The calendar repeats every 400 years (146 097 days); counting from 1 March puts the leap
    // day last, so that a month's length is a linear function of its number.
    init(daysSinceEpoch days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSinceEpoch: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

/// Reads fixed-width numbers and single characters from the front of a text.
private struct DigitScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: ArraySlice<UInt8>) {
        rest = text
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func digits(_ count: Int) -> Int64? {
        guard rest.count >= count else { return nil }
        var number: Int64 = 0
        for byte in rest.prefix(count) {
            guard (48...57).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - 48)
        }
        rest = rest.dropFirst(count)
        return number
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func timeOfDayMilliseconds() -> Int64? {
        guard let hour = digits(2), skip(":"), let minute = digits(2), hour < 24, minute < 60
        else { return nil }
        var total = (hour * 60 + minute) * 60_000
        guard skip(":") else { return total }
        guard let second = digits(2), second < 60 else { return nil }
        total += second * 1000
        guard skip(".") else { return total }
        var place: Int64 = 100
        var count = 0
        while let digit = digits(1) {
            total += digit * place
            place /= 10
            count += 1
        }
        return count > 0 ? total : nil
    }

    mutating func offsetMilliseconds() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : -1
        guard sign == 1 || skip("-"), let hour = digits(2), skip(":"), let minute = digits(2),
            hour < 24, minute < 60
        else { return nil }
        return sign * (hour * 60 + minute) * 60_000
    }
}
