import Foundation
import Postgres

/// A Citus cluster for tests that run by hand.
///
/// SUBLEDGER_CITUS is the URI of a superuser for a database of the coordinator that lists the
/// workers.
enum CitusCluster {
    static var url: String? { ProcessInfo.processInfo.environment["SUBLEDGER_CITUS"] }

    /// Lends an empty database that exists on all servers of the cluster.
    static func withDatabase(
        _ body: (ConnectionSettings) async throws -> Void
    ) async throws {
        let name = "citus_test_\(UUID().uuidString.prefix(8).lowercased())"
        let nodes = try await query("SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
        let coordinator = try settings(of: nodes[0])
        for node in nodes.reversed() {
            let here = try settings(of: node)
            try await execute("CREATE DATABASE \(name) TEMPLATE template0", here)
            try await execute("CREATE EXTENSION citus", database(name, here))
        }
        let own = database(name, coordinator)
        try await execute(
            "SELECT citus_set_coordinator_host('\(nodes[0][0])', \(nodes[0][1]))",
            own
        )
        for node in nodes.dropFirst() {
            try await execute("SELECT citus_add_node('\(node[0])', \(node[1]))", own)
        }
        var failure: (any Error)?
        do { try await body(own) } catch { failure = error }
        // Citus' own connections to the workers stay open in the database.
        for node in nodes {
            try await execute("DROP DATABASE \(name) WITH (FORCE)", settings(of: node))
        }
        if let failure { throw failure }
    }

    /// Runs one statement.
    static func execute(_ sql: String, _ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(sql)
        await session.close()
    }

    private static func query(_ sql: String) async throws -> [[String]] {
        let session = try await PostgresSession.connect(ConnectionSettings(url ?? ""))
        let rows = try await session.query(sql).map { [try $0.text(0), "\(try $0.int4(1))"] }
        await session.close()
        return rows
    }

    private static func settings(of node: [String]) throws -> ConnectionSettings {
        let url = url ?? ""
        let mark = url.contains("?") ? "&" : "?"
        return ConnectionSettings("\(url)\(mark)host=\(node[0])&port=\(node[1])")
    }

    private static func database(
        _ name: String,
        _ settings: ConnectionSettings
    ) -> ConnectionSettings {
        var settings = settings
        settings.database = name
        return settings
    }
}
