import Foundation
package import Postgres

/// The Citus cluster of tests that run by hand.
///
/// SUBLEDGER_CITUS is the URI of a superuser for a database of the coordinator that lists the
/// workers. Every test gets databases of the same name on all servers.
package struct CitusCluster: Sendable {
    private let url: String

    /// The cluster; nil if SUBLEDGER_CITUS is not set.
    package static let shared = ProcessInfo.processInfo.environment["SUBLEDGER_CITUS"]
        .flatMap { $0.isEmpty ? nil : CitusCluster(url: $0) }

    /// How to reach the coordinator.
    var coordinator: ConnectionSettings { ConnectionSettings(url) }

    /// Runs one statement in a database of the coordinator.
    package static func execute(_ sql: String, _ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(sql)
        await session.close()
    }

    /// Creates a database on all servers.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - template: A database of the cluster to copy; nil for an empty one.
    /// - Returns: How to reach it on the coordinator.
    /// - Throws: Errors of the servers.
    func create(_ name: String, from template: String?) async throws -> ConnectionSettings {
        let nodes = try await nodes()
        for node in nodes.reversed() {
            if let template { try await CitusCluster.silence(template, on: node.server) }
            let source = template ?? "template0 ENCODING 'UTF8' LOCALE 'C'"
            try await CitusCluster.execute(
                "CREATE DATABASE \(name) TEMPLATE \(source)",
                node.server
            )
            guard template == nil else { continue }
            try await CitusCluster.execute("CREATE EXTENSION citus", node.server.database(name))
        }
        let own = nodes[0].server.database(name)
        // A copy knows its servers by name and port, as the template does.
        guard template == nil else { return own }
        try await CitusCluster.execute("SELECT citus_set_coordinator_host(\(nodes[0].place))", own)
        for node in nodes.dropFirst() {
            try await CitusCluster.execute("SELECT citus_add_node(\(node.place))", own)
        }
        return own
    }

    /// Drops a database on all servers, if it exists.
    func drop(_ name: String) async throws {
        // On all of them first: a server connects again to the others.
        let nodes = try await nodes()
        for node in nodes where try await CitusCluster.exists(name, on: node.server) {
            try await CitusCluster.silence(name, on: node.server)
        }
        for node in nodes {
            try await CitusCluster.execute(
                "DROP DATABASE IF EXISTS \(name) WITH (FORCE)",
                node.server
            )
        }
    }

    /// Runs a body while one worker accepts no connections to a database, as if it were down.
    package func withoutOneWorker<R>(
        _ settings: ConnectionSettings,
        _ body: () async throws -> R
    ) async throws -> R {
        guard let worker = try await nodes().last, let database = settings.database else {
            preconditionFailure("a cluster has workers, and tests have databases of their own")
        }
        try await CitusCluster.silence(database, on: worker.server)
        let opening = "ALTER DATABASE \(database) ALLOW_CONNECTIONS true"
        do {
            let result = try await body()
            try await CitusCluster.execute(opening, worker.server)
            return result
        } catch {
            try await CitusCluster.execute(opening, worker.server)
            throw error
        }
    }

    private static func exists(
        _ database: String,
        on server: ConnectionSettings
    ) async throws -> Bool {
        let session = try await PostgresSession.connect(server)
        let rows = try await session.query(
            "SELECT 1 FROM pg_database WHERE datname = $1",
            [.text(database)]
        )
        await session.close()
        return rows.count > 0
    }

    // Citus' own sessions stay in a database, and PostgreSQL copies only one without sessions.
    private static func silence(_ database: String, on server: ConnectionSettings) async throws {
        try await execute("ALTER DATABASE \(database) ALLOW_CONNECTIONS false", server)
        try await execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                + "WHERE datname = '\(database)'",
            server
        )
    }

    /// A server of the cluster: how to reach it, and its host and port as arguments in SQL.
    private typealias Node = (server: ConnectionSettings, place: String)

    // The coordinator first.
    private func nodes() async throws -> [Node] {
        let session = try await PostgresSession.connect(coordinator)
        let mark = url.contains("?") ? "&" : "?"
        let nodes = try await session.query(
            "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid"
        ).map { row -> Node in
            let (host, port) = (try row.text(0), try row.int4(1))
            let server = ConnectionSettings("\(url)\(mark)host=\(host)&port=\(port)")
            return (server, "'\(host)', \(port)")
        }
        await session.close()
        return nodes
    }
}

extension ConnectionSettings {
    fileprivate func database(_ name: String) -> ConnectionSettings {
        var settings = self
        settings.database = name
        return settings
    }
}
