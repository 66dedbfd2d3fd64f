internal import Events

/// Writes one object of an old format, in a style.
///
/// It knows how these formats write ids, numbers, flags and instants; the callers decide the
/// content.
struct ReceiptWriter {
    private var json = JSONWriter()
    private let pace: SimulatedPace
    private let style: ReceiptStyle
    private let subsecond: Int64

    /// An empty object; a style that keeps milliseconds adds them to instants.
    init(style: ReceiptStyle, subsecond: Int64, pace: SimulatedPace) {
        self.pace = pace
        self.style = style
        self.subsecond = style.contains(.subsecondDates) ? subsecond : 0
    }

    /// The finished object.
    var object: [UInt8] { json.object }

    mutating func text(_ name: StaticString, _ value: String?) { json.add(name, value) }

    mutating func number(_ name: StaticString, _ value: Int64?) { json.add(name, value) }

    mutating func value(_ name: StaticString, json bytes: [UInt8]) {
        json.add(name, suffix: "", json: bytes)
    }

    mutating func objects(_ name: StaticString, _ objects: [[UInt8]]) {
        json.add(name, objects: objects)
    }

    /// Text that needs no escaping, such as base64.
    mutating func plain(_ name: StaticString, _ text: [UInt8]) { json.add(name, plain: text) }

    /// Digits as text, or as a number.
    mutating func digits(_ name: StaticString, _ digits: String?) {
        guard let digits else { return }
        json.add(name, suffix: "", json: self.digits(digits))
    }

    mutating func digits(_ name: StaticString, _ number: Int64?) {
        digits(name, number.map { String($0) })
    }

    /// `"true"` or `true`.
    mutating func flag(_ name: StaticString, _ flag: Bool) {
        if style.contains(.realBooleans) {
            json.add(name, flag)
        } else {
            json.add(name, flag ? "true" : "false")
        }
    }

    /// The renewal switch and similar fields: `"1"`, or `true` if booleans are real.
    mutating func bit(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        if style.contains(.realBooleans) {
            json.add(name, flag)
        } else {
            digits(name, flag ? 1 : 0)
        }
    }

    /// An instant in its three forms; nothing for nil.
    mutating func dates(_ name: StaticString, _ instant: Instant?) {
        guard let instant else { return }
        threeForms(name, pace.date(instant).advanced(by: subsecond))
    }

    /// The instant of the answer itself, always with its real milliseconds.
    mutating func requestDates(_ instant: Instant) {
        threeForms("request_date", pace.real(instant))
    }

    /// The end of a period as iOS 6 wrote it: milliseconds under the plain name, and texts.
    mutating func expiry(_ instant: Instant) {
        let shifted = pace.date(instant).advanced(by: subsecond)
        milliseconds("expires_date", "", shifted)
        text("expires_date", "_formatted", AppleDateText.gmt(shifted))
        text("expires_date", "_formatted_pst", AppleDateText.pacific(shifted))
    }

    private mutating func threeForms(_ name: StaticString, _ instant: Instant) {
        text(name, "", AppleDateText.gmt(instant))
        if !style.contains(.textDatesOnly) { milliseconds(name, "_ms", instant) }
        text(name, "_pst", AppleDateText.pacific(instant))
    }

    private mutating func milliseconds(
        _ name: StaticString,
        _ suffix: StaticString,
        _ instant: Instant
    ) {
        json.add(name, suffix: suffix, json: digits(String(instant.milliseconds)))
    }

    private mutating func text(_ name: StaticString, _ suffix: StaticString, _ text: String) {
        json.add(name, suffix: suffix, json: JSONWriter.json(text: text))
    }

    private func digits(_ digits: String) -> [UInt8] {
        style.contains(.numericIds) ? Array(digits.utf8) : JSONWriter.json(text: digits)
    }
}
