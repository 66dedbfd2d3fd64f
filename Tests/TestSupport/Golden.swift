import Foundation
package import Testing

/// Texts kept in a file next to the tests, so that no text changes unseen.
///
/// The file has a section for each text, below a line with its name. `make snapshot` writes it
/// again; read the difference before you commit it.
package enum Golden {
    /// Compares all texts with the file.
    package static func compare(
        _ texts: [(name: String, text: String)],
        with file: String,
        beside source: StaticString = #filePath,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let url = URL(fileURLWithPath: "\(source)").deletingLastPathComponent()
            .appendingPathComponent(file)
        if ProcessInfo.processInfo.environment["SNAPSHOT_UPDATE"] == "1" {
            let sections = texts.map { "\(mark)\($0.name)\n\(lines($0.text).joined())" }
            return try Data(sections.joined(separator: "\n").utf8).write(to: url)
        }
        let kept = sections(of: String(decoding: try Data(contentsOf: url), as: UTF8.self))
        #expect(kept.map(\.name) == texts.map(\.name), "\(file)", sourceLocation: sourceLocation)
        for (text, old) in zip(texts, kept) where lines(text.text) != old.lines {
            let differences = lines(text.text).difference(from: old.lines)
            let shown = (differences.removals + differences.insertions).prefix(20).map(line)
            Issue.record(
                """
                \(file), \(text.name), differs; if it should, run the test with SNAPSHOT_UPDATE=1 \
                and read the difference
                \(shown.joined())
                """,
                sourceLocation: sourceLocation
            )
        }
    }

    private static let mark = "======== "

    private static func sections(of file: String) -> [(name: String, lines: [String])] {
        file.components(separatedBy: "\n\(mark)").map { section in
            let lines = lines(section.replacing(/\n$/, with: ""))
            let name = (lines.first ?? "").replacing(mark, with: "").dropLast()
            return (String(name), Array(lines.dropFirst()))
        }
    }

    // Each with its end, and no spaces that editors remove.
    private static func lines(_ text: String) -> [String] {
        text.replacing(/\n+$/, with: "").components(separatedBy: "\n")
            .map { $0.replacing(/\ +$/, with: "") + "\n" }
    }

    private static func line(_ change: CollectionDifference<String>.Change) -> String {
        switch change {
        case .remove(let offset, let line, _): "− \(offset + 1): \(line)"
        case .insert(let offset, let line, _): "+ \(offset + 1): \(line)"
        }
    }
}
