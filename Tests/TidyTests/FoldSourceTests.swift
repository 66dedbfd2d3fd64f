import Events
import Foundation
import Testing

/// Tables say with which source they were made, so that a fold never changes unnoticed.
@Suite struct FoldSourceTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let kept = "Projections/FoldSource.swift"

    @Test func `the digest of the folds' source is that of the source`() throws {
        let digest = try Self.digest().hex
        let file = Self.root.appendingPathComponent(Self.kept)
        let text = try String(contentsOf: file, encoding: .utf8)
        let pattern = #/"[0-9a-f]{64}"/#
        if ProcessInfo.processInfo.environment["SNAPSHOT_UPDATE"] == "1" {
            try Data(text.replacing(pattern, with: "\"\(digest)\"").utf8).write(to: file)
            return
        }
        #expect(
            text.contains("\"\(digest)\""),
            "a fold has changed: count its `version` up if it gives other rows, then `make snapshot`"
        )
    }

    @Test func `comments and layout are no part of the source`() {
        let plain = "let a = 1\nlet b = \"// no comment\"\n"
        let decorated = "/// Doc.\nlet a   = 1 // why\n\n\n    let b = \"// no comment\"\n"
        #expect(Self.code(plain) == Self.code(decorated))
        #expect(Self.code(plain) != Self.code("let a = 2\nlet b = \"// no comment\"\n"))
    }

    private static func digest() throws -> Digest {
        var bytes: [UInt8] = []
        for folder in ["Projections", "Sources/Events"] {
            let start = root.appendingPathComponent(folder)
            let walk = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil)
            var paths: [String] = []
            while let url = walk?.nextObject() as? URL {
                let path = String(url.path.dropFirst(root.path.count + 1))
                if path.hasSuffix(".swift") || path.hasSuffix(".sql"), path != kept {
                    paths.append(path)
                }
            }
            #expect(paths.count > 10, "\(folder) holds too little")
            for path in paths.sorted() {
                let text = try String(
                    contentsOf: root.appendingPathComponent(path),
                    encoding: .utf8
                )
                bytes += path.utf8 + [0] + code(text).utf8 + [0]
            }
        }
        return Digest.of(bytes)
    }

    /// The words of a text without its comments, one space between.
    static func code(_ text: String) -> String {
        text.split(separator: "\n").flatMap { line in
            withoutComment(line).split(whereSeparator: \.isWhitespace)
        }.joined(separator: " ")
    }

    // A comment begins outside of a string; texts of several lines keep theirs, which is harmless.
    private static func withoutComment(_ line: Substring) -> Substring {
        var isInText = false
        var index = line.startIndex
        while index < line.endIndex {
            if line[index] == "\\", isInText {
                index = line.index(after: index)
            } else if line[index] == "\"" {
                isInText.toggle()
            } else if !isInText, line[index...].hasPrefix("//") || line[index...].hasPrefix("--") {
                return line[..<index]
            }
            guard index < line.endIndex else { break }
            index = line.index(after: index)
        }
        return line
    }
}
