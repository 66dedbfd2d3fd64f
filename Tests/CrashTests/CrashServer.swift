import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport

/// A server with fsync that can be killed as by a power cut.
struct CrashServer: Sendable {
    private let server: EmbeddedServer

    /// How to reach it.
    let settings: ConnectionSettings

    /// Starts one in its own temporary folder; it ends with this process at the latest.
    init() async throws {
        server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        settings = try await server.start()
    }

    /// Kills the postmaster and all its processes at once, and starts it again.
    func crash() async throws {
        guard case .running(let postmaster) = try await server.status() else {
            throw CrashTestError("the server does not run")
        }
        // The postmaster is stopped first, so that it cannot notice and clean up.
        kill(postmaster, SIGSTOP)
        let children = try await Self.children(of: postmaster)
        guard !children.isEmpty else { throw CrashTestError("the server has no processes") }
        for process in children + [postmaster] { kill(process, SIGKILL) }
        _ = try await server.start()
    }

    func stop() async {
        do { try await server.stop() } catch { print("the crash test's server: \(error)") }
    }

    private static func children(of parent: Int32) async throws -> [Int32] {
        let ps = try await Program(path: "/bin/ps").run(["-A", "-o", "pid=,ppid="])
        guard ps.code == 0 else { throw CrashTestError("ps failed: \(ps.errors)") }
        return ps.output.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { Int32($0) }
            return numbers.count == 2 && numbers[1] == parent ? numbers[0] : nil
        }
    }
}

/// The crash test itself does not work.
struct CrashTestError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
