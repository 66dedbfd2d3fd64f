package import Events
import Foundation
package import Projections
import Synchronization
package import Testing

/// What every fold returns for a fixed corpus, kept in a file next to the tests, so that no fold
/// can return other rows under the same version.
///
/// One line per history: its name, a digest of its facts, and digests of the rows of each table.
/// `make snapshot` adds new lines; obsolete ones stay until the file is deleted.
package final class KeptFolds: Sendable {
    private let path: String
    private let isUpdating = ProcessInfo.processInfo.environment["SNAPSHOT_UPDATE"] == "1"
    private let state: Mutex<[String: Line]>

    private struct Line: Equatable {
        var facts: String
        /// By name and version of the projection.
        var rows: [String: String]
    }

    /// The file with that name, next to the calling source file.
    package init(_ name: String, beside source: StaticString = #filePath) {
        path =
            URL(fileURLWithPath: "\(source)").deletingLastPathComponent()
            .appendingPathComponent(name).path
        let lines = FileManager.default.contents(atPath: path).map {
            String(decoding: $0, as: UTF8.self)
        }
        var kept: [String: Line] = [:]
        var versions: [String] = []
        for line in (lines ?? "").split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            if words[0] == "versions" {
                versions = Array(words.dropFirst())
            } else {
                let rows = zip(versions, words.dropFirst(2)).filter { $1 != KeptFolds.notKept }
                kept[words[0]] = Line(
                    facts: words[1],
                    rows: Dictionary(uniqueKeysWithValues: rows)
                )
            }
        }
        state = Mutex(kept)
    }

    /// Compares what the folds return for a history with what was kept for it, under its name or
    /// the digest of its facts.
    package func check(
        _ facts: [Fact],
        named name: String? = nil,
        _ timelines: [Timeline],
        _ context: FoldContext,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let digest = KeptFolds.digest(of: facts)
        let found = Line(
            facts: digest,
            rows: Dictionary(
                uniqueKeysWithValues: allProjections.map {
                    (KeptFolds.name(of: $0), KeptFolds.digest(of: timelines, by: $0, context))
                }
            )
        )
        let name = name ?? digest
        let kept = state.withLock { $0[name] }
        guard found != kept else { return }
        if let kept, kept.facts == digest {
            let same = found.rows.filter { name, rows in kept.rows[name].map { $0 != rows } ?? false
            }
            guard same.isEmpty else {
                Issue.record(
                    """
                    other rows under the same version: \(same.keys.sorted().joined(separator: ", ")). \
                    Count the version up in the projection's file, then `make snapshot`
                    """,
                    sourceLocation: sourceLocation
                )
                return
            }
        }
        guard isUpdating else {
            Issue.record(
                "not kept yet, or changed: `make snapshot`",
                sourceLocation: sourceLocation
            )
            return
        }
        state.withLock { lines in
            lines[name] = found
            write(lines)
        }
    }

    /// A placeholder for the rows of a version that has not folded this history yet.
    private static let notKept = "-"

    private func write(_ lines: [String: Line]) {
        let versions = allProjections.map(KeptFolds.name)
        var text = """
            # What the folds give, kept by `make snapshot`: a history a line, with digests of its
            # facts and of its rows in each table, in the order of the versions.
            versions \(versions.joined(separator: " "))

            """
        for (name, line) in lines.sorted(by: { $0.key < $1.key }) {
            let rows = versions.map { line.rows[$0] ?? KeptFolds.notKept }
            text += "\(name) \(line.facts) \(rows.joined(separator: " "))\n"
        }
        let isWritten = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        precondition(isWritten, "\(path) cannot be written")
    }

    private static func name(of projection: any Projection) -> String {
        "\(projection.name):\(projection.version)"
    }

    private static func digest(of facts: [Fact]) -> String {
        var writer = ByteWriter()
        for fact in facts {
            writer.prefixed("\(fact.stream) \(fact.kind) \(fact.purchaseDate) \(fact.expiresDate)")
            writer.prefixed("\(fact.asOf)")
            writer.raw(Digest.of(fact.content.canonicalBytes).bytes)
        }
        return String(Digest.of(writer.bytes).hex.prefix(16))
    }

    private static func digest(
        of timelines: [Timeline],
        by projection: any Projection,
        _ context: FoldContext
    ) -> String {
        var digest = ProjectionDigest()
        for timeline in timelines {
            do {
                digest.add(try projection.rows(of: timeline, in: context), of: timeline.stream)
            } catch {
                return "refused"
            }
        }
        return String(digest.digest.hex.prefix(8))
    }
}
