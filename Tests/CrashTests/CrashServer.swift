import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport

/// A server with fsync that is killed and started again.
struct CrashServer: KilledServer {
    private let server: EmbeddedServer

    let settings: ConnectionSettings

    /// Starts one in its own temporary folder; it ends with this process at the latest.
    init() async throws {
        server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        settings = try await server.start()
    }

    func crash() async throws {
        try await server.cutPower()
        _ = try await server.start()
    }

    func stop() async {
        do { try await server.stop() } catch { print("the crash test's server: \(error)") }
    }
}

/// The crash test itself does not work.
struct CrashTestError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
