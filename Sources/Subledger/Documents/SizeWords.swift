/// A number of bytes in the largest decimal unit that gives at least one: `98 kB`.
package func byteWords(_ count: Int64) -> String {
    let units: [(String, Int64)] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)]
    guard let (unit, size) = units.first(where: { count >= $0.1 }) else {
        return counted(count, "byte")
    }
    return "\(count / size) \(unit)"
}

/// A time span in one or two units, rounded: `40 s`, `12 min`, `3 h 5 min`.
package func durationWords(_ seconds: Double) -> String {
    let seconds = Int64(min(max(seconds, 0), 1e12).rounded(.up))
    if seconds < 100 { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    if minutes < 100 { return "\(minutes) min" }
    return "\(minutes / 60) h \(minutes % 60) min"
}
