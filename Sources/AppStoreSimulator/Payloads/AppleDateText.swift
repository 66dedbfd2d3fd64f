internal import Events

/// The text forms of instants in old formats, all in whole seconds.
///
/// The Pacific time of the `_pst` fields is local time in Los Angeles, summer time included
/// (Apple's data: verifyReceipt response), by the rule in force since 2007: earlier instants do not
/// occur.
enum AppleDateText {
    /// Such as `2015-07-09 08:19:17 Etc/GMT`.
    static func gmt(_ instant: Instant) -> String { plain(instant) + " Etc/GMT" }

    /// Such as `2015-07-09 01:19:17 America/Los_Angeles`.
    static func pacific(_ instant: Instant) -> String {
        let hours: Int64 = isPacificSummer(instant) ? -7 : -8
        let local = instant.advanced(by: hours * SimulatedCalendar.hour)
        return plain(local) + " America/Los_Angeles"
    }

    /// Such as `2015-07-09T08:19:17Z`, in app receipts.
    static func rfc3339(_ instant: Instant) -> String { instant.flooredToSecond.description }

    private static func plain(_ instant: Instant) -> String {
        var text = Array(rfc3339(instant).utf8)
        text[10] = UInt8(ascii: " ")
        text.removeLast()
        return String(decoding: text, as: UTF8.self)
    }

    // From 02:00 standard time on the second Sunday of March to 02:00 summer time on the first
    // Sunday of November (Energy Policy Act of 2005, §110).
    private static func isPacificSummer(_ instant: Instant) -> Bool {
        let year = SimulatedCalendar.year(instant)
        let begin = SimulatedCalendar.sunday(onOrAfter: 8, month: 3, year: year)
        let end = SimulatedCalendar.sunday(onOrAfter: 1, month: 11, year: year)
        return instant.milliseconds >= begin.milliseconds + 10 * SimulatedCalendar.hour
            && instant.milliseconds < end.milliseconds + 9 * SimulatedCalendar.hour
    }
}
