import EmbeddedPostgres
import Foundation
package import Postgres

/// A primary and its standby.
///
/// If the primary is killed, the standby is promoted, and a new standby takes the place of what was
/// the primary.
package actor ReplicatedServer: KilledServer {
    /// Reaches whichever of the two accepts writes.
    package nonisolated let settings: ConnectionSettings

    private let servers: [EmbeddedServer]
    private let places: [Place]
    private var primary = 0

    private struct Place {
        let sockets: String
        let data: String
    }

    /// Starts both; they end with this process at the latest.
    ///
    /// - Parameter isSynchronous: Whether a commit waits until the standby has flushed it.
    /// - Throws: `ServerFault`, and what the server's programs or a session throws.
    package init(isSynchronous: Bool) async throws {
        servers = (0..<2).map { _ in
            EmbeddedServer(
                home: TestServer.temporaryHome(),
                // No process ends here with its machine.
                options: .init(lifetime: .process, settings: ["fsync": "off"])
            )
        }
        var places: [Place] = []
        for server in servers {
            let session = try await PostgresSession.connect(try await server.start())
            let row = try await session.query(
                "SELECT current_setting('unix_socket_directories'), current_setting('data_directory')"
            ).single()
            places.append(Place(sockets: try row.text(0), data: try row.text(1)))
            await session.close()
        }
        self.places = places
        settings = Self.settings(
            host: places.map(\.sockets).joined(separator: ","),
            "target_session_attrs=read-write"
        )
        if isSynchronous {
            // The standby's copy contains the setting.
            try await execute("ALTER SYSTEM SET synchronous_standby_names = '*'", at: primary)
        }
        try await makeStandby()
        try await execute("SELECT pg_reload_conf()", at: primary)
    }

    /// The standby of now, which accepts no writes.
    package var standby: ConnectionSettings { Self.settings(host: places[1 - primary].sockets) }

    /// Kills the primary, promotes the standby, and makes a new standby.
    package func crash() async throws {
        try await servers[primary].cutPower()
        primary = 1 - primary
        try await execute("SELECT pg_promote()", at: primary)
        try await makeStandby()
    }

    /// Waits until the standby shows everything that the primary has committed.
    package func waitForStandby() async throws {
        let session = try await PostgresSession.connect(settings)
        let end = try await session.query("SELECT pg_current_wal_flush_lsn()::text").single()
            .text(0)
        await session.close()
        try await wait(
            until: "SELECT pg_last_wal_replay_lsn() >= '\(end)'",
            at: 1 - primary
        )
    }

    /// Ends the replication: what is committed from now on does not reach the standby.
    package func disconnectStandby() async throws {
        try await execute(
            "ALTER SYSTEM SET primary_conninfo = ''; SELECT pg_reload_conf()",
            at: 1 - primary
        )
        try await wait(until: "SELECT count(*) = 0 FROM pg_stat_wal_receiver", at: 1 - primary)
    }

    /// Stops both.
    package func stop() async {
        for server in servers {
            do { try await server.stop() } catch { print("a replicated server: \(error)") }
        }
    }

    private func makeStandby() async throws {
        let (server, data) = (servers[1 - primary], places[1 - primary].data)
        try await server.stop()
        try FileManager.default.removeItem(atPath: data)
        // A server that was killed leaves the lock of its socket with its process id, which another
        // process may have by now, or which is still in use until the killed process is reaped.
        unlink("\(places[1 - primary].sockets)/.s.PGSQL.5432.lock")
        let source = Self.settings(host: places[primary].sockets)
        let copy = try await Program(ofServer: "pg_basebackup").run([
            "--dbname", source.fullConnectionString, "--pgdata", data, "--checkpoint", "fast",
            "--write-recovery-conf", "--no-sync",
        ])
        guard copy.code == 0 else { throw ServerFault("pg_basebackup: \(copy.errors)") }
        try await giveToServer(data)
        _ = try await server.start()
        try await wait(
            until: "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'",
            at: primary
        )
    }

    /// The server runs as another user than a test that root runs.
    private func giveToServer(_ data: String) async throws {
        let above = URL(fileURLWithPath: data).deletingLastPathComponent().path
        var status = stat()
        guard stat(above, &status) == 0 else { throw ServerFault("no folder \(above)") }
        let owner = "\(status.st_uid):\(status.st_gid)"
        let given = try await Program(path: "/usr/bin/env").run(["chown", "-R", owner, data])
        guard given.code == 0 else { throw ServerFault("chown: \(given.errors)") }
    }

    private func execute(_ sql: String, at number: Int) async throws {
        let session = try await PostgresSession.connect(
            Self.settings(host: places[number].sockets)
        )
        for statement in sql.split(separator: "; ") { try await session.execute("\(statement)") }
        await session.close()
    }

    private func wait(until sql: String, at number: Int) async throws {
        let session = try await PostgresSession.connect(
            Self.settings(host: places[number].sockets)
        )
        while try await !session.query(sql).single().bool(0) { await Task.yield() }
        await session.close()
    }

    private static func settings(host: String, _ more: String = "") -> ConnectionSettings {
        ConnectionSettings(
            "host=\(host) port=5432 user=\(EmbeddedServer.userName) "
                + "dbname=\(EmbeddedServer.databaseName) sslmode=disable gssencmode=disable \(more)"
        )
    }
}
