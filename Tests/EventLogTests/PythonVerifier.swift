import EmbeddedPostgres
import Foundation
import Postgres
import Synchronization

/// The verifier in another language: it follows `schema/README.md` and shares no code with ours.
enum PythonVerifier {
    struct Report: Decodable {
        let ok: Bool
        let events: Int64
        let commits: Int64
        let heads: [Head]
        let firstMismatch: Place?
    }

    struct Head: Decodable {
        let lane: Int
        let offset: Int64
        let commit: Int64
        let digest: String
    }

    struct Place: Decodable {
        let lane: Int
        let commit: Int64
        let reason: String
    }

    struct Failure: Error {
        let code: Int32
    }

    // The system's Python if there is one, because version managers put slow shims into the path.
    private static let python =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
        ? "/usr/bin/python3" : "python3"

    /// Verifies a database.
    static func verify(_ settings: ConnectionSettings) async throws -> Report {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("verify_chain.py").path
        let output = try await run([python, script, try conninfo(settings)], codes: [0, 3])
        return try JSONDecoder().decode(Report.self, from: Data(output))
    }

    /// A connection string for PostgreSQL's own programs, as another user if one is named.
    static func conninfo(_ settings: ConnectionSettings, user: String? = nil) throws -> String {
        let database = settings.database ?? ""
        guard settings.connectionString.contains("://") else {
            let login = user.map { " user=\($0) password=reader" } ?? ""
            return "\(settings.connectionString) dbname=\(database)\(login)"
        }
        guard var url = URLComponents(string: settings.connectionString) else {
            throw Failure(code: -1)
        }
        url.path = "/\(database)"
        if let user { (url.user, url.password) = (user, "reader") }
        return url.string ?? ""
    }

    /// A program's output; throws if its exit code is not one of these.
    static func run(_ command: [String], codes: Set<Int32> = [0]) async throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        // Debian's psql starts Perl, which starts the psql of a server. Where the tests use another
        // machine's server, only the one in the path may be there.
        var environment = ProcessInfo.processInfo.environment
        let programs = (try? EmbeddedServer.binaries()).map { [$0] } ?? []
        environment["PATH"] = (programs + [environment["PATH"] ?? ""]).joined(separator: ":")
        process.environment = environment
        let output = FileManager.default.temporaryDirectory
            .appendingPathComponent("subledger-test-output-\(UUID().uuidString)")
        try Data().write(to: output)
        defer { unlink(output.path) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        let code = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        guard codes.contains(code) else { throw Failure(code: code) }
        return Array(try Data(contentsOf: output))
    }
}

/// The ordinal, counted from 1.
final class Counter: Sendable {
    private let value = Atomic<Int64>(0)

    func next() -> Int64 { value.add(1, ordering: .relaxed).newValue }
}
