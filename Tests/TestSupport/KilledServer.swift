package import EmbeddedPostgres
import Foundation
package import Postgres

/// A server whose processes can be killed as by a power cut.
package protocol KilledServer: Sendable {
    /// How to reach it, before and after.
    var settings: ConnectionSettings { get }

    /// Kills it; returns when it accepts writes again.
    func crash() async throws

    /// Ends it.
    func stop() async
}

extension EmbeddedServer {
    /// Kills the postmaster and all its processes at once.
    package func cutPower() async throws {
        guard case .running(let postmaster) = try status() else {
            throw ServerFault("the server does not run")
        }
        // The postmaster is stopped first, so that it cannot notice and clean up.
        kill(postmaster, SIGSTOP)
        let children = try await Self.children(of: postmaster)
        guard !children.isEmpty else { throw ServerFault("the server has no processes") }
        for process in children + [postmaster] { kill(process, SIGKILL) }
    }

    private static func children(of parent: Int32) async throws -> [Int32] {
        let ps = try await Program(path: "/bin/ps").run(["-A", "-o", "pid=,ppid="])
        guard ps.code == 0 else { throw ServerFault("ps failed: \(ps.errors)") }
        return ps.output.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { Int32($0) }
            return numbers.count == 2 && numbers[1] == parent ? numbers[0] : nil
        }
    }
}

/// A test cannot do with its server what it wants to.
package struct ServerFault: Error, CustomStringConvertible {
    /// What failed.
    package let description: String

    init(_ description: String) { self.description = description }
}
