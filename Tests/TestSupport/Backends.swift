import Foundation
package import Postgres

/// The server processes that serve a database.
package enum Backends {
    /// Stops all of them except the inspecting one while the body runs.
    package static func stopped<R>(
        of settings: ConnectionSettings,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> R
    ) async throws -> R {
        let inspector = try await PostgresSession.connect(settings)
        let found = try await inspector.query(
            """
            SELECT pid FROM pg_stat_activity WHERE datname = current_database()
                AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        ).map { try $0.int4(0) }
        await inspector.close()
        for backend in found { kill(backend, SIGSTOP) }
        defer { for backend in found { kill(backend, SIGCONT) } }
        return try await body()
    }
}
