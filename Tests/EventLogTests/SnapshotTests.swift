import Foundation
import Postgres
import TestSupport
import Testing

/// `schema/snapshot.sql`: the result of all migrations, and the page that a newcomer reads.
@Suite(.enabled { await TestServer.isAvailable })
struct SnapshotTests {
    @Test func `the snapshot is the result of the migrations`() async throws {
        let dump = try await Variant.plain.withDatabase { settings in
            try await Self.dump(settings)
        }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../schema/snapshot.sql").standardized
        if ProcessInfo.processInfo.environment["SNAPSHOT_UPDATE"] == "1" {
            try Data(dump.utf8).write(to: file)
        }
        let kept = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(kept == dump, "run the tests with SNAPSHOT_UPDATE=1 and read the difference")
    }

    private static func dump(_ settings: ConnectionSettings) async throws -> String {
        // Databases may print identifiers and bytes in other ways.
        let output = try await PythonVerifier.run([
            "PGOPTIONS=-c quote_all_identifiers=off -c bytea_output=hex "
                + "-c standard_conforming_strings=on",
            try Program(ofServer: "pg_dump").path, "--schema-only", "--schema=ledger",
            "--schema=operation", "--no-owner", "--dbname", try PythonVerifier.conninfo(settings),
        ])
        return normalised(String(decoding: output, as: UTF8.self))
    }

    /// The part that does not depend on program versions or on the order of the tools' output.
    private static func normalised(_ dump: String) -> String {
        let heading = """
            -- The result of all migrations for one lane, as pg_dump prints it: read it, never edit it.
            -- Made by the tests with SNAPSHOT_UPDATE=1 and compared by them.
            """
        var lines = [""]
        for line in dump.split(separator: "\n", omittingEmptySubsequences: false) {
            let isNoise =
                line.hasPrefix("--") || line.hasPrefix("SET ") || line.hasPrefix("\\")
                || line.hasPrefix("SELECT pg_catalog.set_config")
            if isNoise || (line.isEmpty && lines.last?.isEmpty == true) { continue }
            lines.append(String(line))
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return heading + "\n" + lines.joined(separator: "\n") + "\n"
    }
}
