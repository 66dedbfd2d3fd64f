internal import Foundation

/// The `Date` of a response (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// The current time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static var now: String { text(time(nil)) }

    /// A time in seconds since 1970; the program never leaves C's own locale, which is English.
    static func text(_ seconds: time_t) -> String {
        var (seconds, parts) = (seconds, tm())
        guard gmtime_r(&seconds, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 40)
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
