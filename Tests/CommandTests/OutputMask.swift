import Events
import Foundation

/// Replaces what is another in every run: the time of day, durations, places and random texts.
struct OutputMask {
    /// The paths, by the words that stand for them.
    let places: [String: String]
    /// When the commands began to run.
    let start: Instant
    /// Whether it replaces lengths of time that are counted up to now.
    var hidesAges = false

    // Longest first: a folder contains the files.
    private var paths: [(word: String, path: String)] {
        places.map { ($0, $1) }.sorted { $0.path.count > $1.path.count }
    }

    /// A printed text; what follows its first forty lines is named by its digest only.
    func text(_ text: String) -> String {
        var text = text
        for (word, path) in paths { text = text.replacing(path, with: word) }
        return shortened(masked(text))
    }

    /// Printed documents, the members of each sorted and on lines of their own.
    func json(_ text: String) -> String {
        let lines = text.split(separator: "\n").map { line in
            guard
                let value = try? JSONSerialization.jsonObject(
                    with: Data(line.utf8),
                    options: .fragmentsAllowed
                ),
                let pretty = try? JSONSerialization.data(
                    withJSONObject: value,
                    options: [
                        .prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed,
                    ]
                )
            else { return String(line) }
            return String(decoding: pretty, as: UTF8.self)
        }
        return self.text(lines.joined(separator: "\n"))
    }

    private func shortened(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 50 else { return text }
        let rest = lines.dropFirst(40).joined(separator: "\n")
        return lines.prefix(40).joined(separator: "\n")
            + "\n… \(lines.count - 40) more lines with the digest \(Digest.of(Array(rest.utf8)))"
    }

    private func masked(_ text: String) -> String {
        var text = text.replacing(/\bwhsec_[A-Za-z0-9+\/=]+/, with: "whsec_<secret>")
            .replacing(/(\b|_)(?=[0-9]*[a-f])[0-9a-f]{16,}\b/) { "\($0.1)<hex>" }
            .replacing(/\b(?=[0-9]*[a-f])[0-9a-f]{12}\b(?:\.\.\.)?/, with: "<hex>")
            .replacing(/\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/) { match in
                let instant = Instant(
                    match.0.replacing(" ", with: "T").replacing("Z", with: "") + "Z"
                )
                return instant.map(isNow) ?? false ? "<now>" : String(match.0)
            }
            .replacing(/\b\d{13}\b/) { match in
                isNow(Instant(milliseconds: Int64(match.0) ?? 0)) ? "<now>" : String(match.0)
            }
            .replacing(/\b\d+(?:\.\d+)? ?(?:ms|s|events\/s|MB\/s)\b/, with: "<time>")
        guard hidesAges else { return text }
        // Their length decides how wide a column is.
        text = text.replacing(/\b\d+ d(?: \d+ h)?(?: \d+ m)?\b/, with: "<age>")
            .replacing(/\ {3,}/, with: "  ")
        return text.replacing(/"milliseconds" : \d+\b/, with: "\"milliseconds\" : <age>")
    }

    // Printed minutes are rounded down.
    private func isNow(_ instant: Instant) -> Bool {
        let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        return start.milliseconds - 60_000 <= instant.milliseconds && instant <= now
    }
}
