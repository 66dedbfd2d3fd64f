import CommandSupport
import Events
import Foundation
import Projections
import Subledger

/// Reads issues with their publication dates: a JSON array of `{"name","publishedAt"}`, or lines
/// `DATE NAME`.
enum IssueFile {
    /// The largest file, in bytes: a century of a daily paper needs a tenth of it.
    static let byteCountMax = 16 << 20

    /// The issues in a file; `-` is stdin.
    static func read(_ path: String) throws -> [Issue] {
        let place = path == "-" ? "stdin" : path
        let bytes = Data(
            try WholeFile.bytes(
                of: path,
                "the list of issues",
                upTo: byteCountMax,
                takesStandardInput: true
            )
        )
        guard bytes.count <= byteCountMax else {
            throw Failure(
                Exit.badInput,
                "\(place) is longer than \(byteCountMax) bytes, the limit for a list of issues"
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(Exit.badInput, "\(place) is not UTF-8 text; \(expected)")
        }
        let isJSON = text.first { !$0.isWhitespace } == "["
        let issues = isJSON ? try parse(json: bytes, place) : try parse(lines: text, place)
        guard !issues.isEmpty else {
            throw Failure(Exit.badInput, "\(place) contains no issue; \(expected)")
        }
        return issues
    }

    private static let expected =
        #"expected [{"name":"May","publishedAt":"2026-05-01"}, …], or lines like 2026-05-01 May"#

    /// An element of the array; the date is a text, or milliseconds.
    private struct Entry: Decodable {
        let name: String
        let publishedAt: PropertyValue
    }

    private static func parse(json: Data, _ place: String) throws -> [Issue] {
        let malformed = Failure(Exit.badInput, "\(place) is not a list of issues; \(expected)")
        let entries: [Entry]
        do {
            entries = try JSONDecoder().decode([Entry].self, from: json)
        } catch {
            throw malformed
        }
        return try entries.enumerated().map { index, entry in
            let instant: Instant?
            switch entry.publishedAt {
            case .text(let text): instant = Instant(text)
            case .number(let number): instant = Instant(milliseconds: number)
            case .flag, .list: throw malformed
            }
            return try issue(entry.name, instant, "element \(index + 1) of \(place)")
        }
    }

    private static func parse(lines text: String, _ place: String) throws -> [Issue] {
        var issues: [Issue] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let parts = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let date = parts.first else { continue }
            let name = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            issues.append(try issue(name, Instant(String(date)), "line \(index + 1) of \(place)"))
        }
        return issues
    }

    private static func issue(_ name: String, _ date: Instant?, _ place: String) throws -> Issue {
        guard let date, date.isPlausible else {
            throw Failure(
                Exit.badInput,
                "\(place) has no publication date between 2008 and 2199; \(expected)"
            )
        }
        guard !name.isEmpty else {
            throw Failure(Exit.badInput, "\(place) has no name; \(expected)")
        }
        return Issue(name: name, publishedAt: date)
    }
}
