import EmbeddedPostgres
import Foundation
package import Postgres

/// The PostgreSQL server of one test run.
///
/// It is that of ``TemporaryDatabases``, or the coordinator of the ``CitusCluster``.
package struct TestServer: Sendable {
    /// The server that all tests of the process share.
    package static let shared = TestServer()

    /// Whether tests against a server can run; prints why not.
    ///
    /// Always true when CI is set, so that a missing server fails there instead of being skipped.
    package static var isAvailable: Bool {
        get async {
            if ProcessInfo.processInfo.environment["CI"] != nil { return true }
            do {
                _ = try await shared.settings()
                return true
            } catch {
                print("SKIPPED: no PostgreSQL for the tests: \(error)")
                return false
            }
        }
    }

    private let databases = TemporaryDatabases(
        atOnceMax: TestServer.databasesAtOnceMax,
        in: CitusCluster.shared.map { cluster in
            TemporaryDatabases.Cluster(
                create: { try await cluster.create($0, from: $1) },
                drop: { try await cluster.drop($0) }
            )
        },
        created: { settings, isCopy in
            if HostileShadows.areEverywhere { try await shadow(settings, isCopy: isCopy) }
        }
    )

    /// With three sessions in each database and one to make and drop it, 16 connections at once.
    ///
    /// On Citus one at a time: its nodes copy the ledger's roles for each database, and PostgreSQL
    /// refuses two changes of a role at once ("tuple concurrently updated").
    package static let databasesAtOnceMax = CitusCluster.shared == nil ? 4 : 1

    /// Sessions that one test may have open at once in its database.
    package static let sessionsPerDatabaseMax = 3

    private init() {}

    /// How to reach the server's maintenance database; starts the server at the first call.
    package func settings() async throws -> ConnectionSettings {
        if let cluster = CitusCluster.shared { return cluster.coordinator }
        return try await TemporaryDatabases.server.value
    }

    /// A path in the temporary folder that does not exist yet.
    package static func temporaryHome() -> String { TemporaryDatabases.temporaryHome() }

    /// Creates a database, lends it to the body and drops it, even if sessions are still connected.
    ///
    /// At most ``databasesAtOnceMax`` bodies run at once, each with at most
    /// ``sessionsPerDatabaseMax`` sessions. A body that requests a second database gets it at once.
    package func withDatabase<R>(
        from template: TestTemplate? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ConnectionSettings) async throws -> R
    ) async throws -> R {
        try await databases.withDatabase(from: template?.content, body)
    }

    private static func shadow(_ settings: ConnectionSettings, isCopy: Bool) async throws {
        guard isCopy else {
            try await HostileShadows.plant(in: settings)
            return
        }
        let session = try await PostgresSession.connect(settings)
        try await HostileShadows.mislead(session)
        await session.close()
    }
}

/// A database that is prepared once, for tests to copy.
package struct TestTemplate: Sendable {
    let content: TemporaryDatabases.Template

    /// Names a template in lower-case letters, and sets how to prepare it.
    ///
    /// No session may stay open in it: PostgreSQL copies only databases without other sessions.
    package init(
        _ name: String,
        prepare: @escaping @Sendable (ConnectionSettings) async throws -> Void
    ) {
        content = TemporaryDatabases.Template(name, prepare: prepare)
    }
}
