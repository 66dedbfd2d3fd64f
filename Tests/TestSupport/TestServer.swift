import EmbeddedPostgres
import Foundation
package import Postgres

/// The PostgreSQL server of one test run.
///
/// It is the one that SUBLEDGER_TEST_DATABASE_URL names, as a user that may create databases, or
/// the coordinator of the ``CitusCluster``; otherwise an embedded one in a temporary folder that
/// disappears with the process, without fsync unless SUBLEDGER_TEST_FSYNC is `on`.
package actor TestServer {
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

    private var starting: Task<ConnectionSettings, any Error>?
    private var templates: [String: Task<Void, any Error>] = [:]
    private var databasesMade = 0
    @TaskLocal private static var hasPlace = false
    private let gate = Gate(width: TestServer.databasesAtOnceMax)

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
        if let starting { return try await starting.value }
        let task = Task { try await Self.start() }
        starting = task
        return try await task.value
    }

    private static func start() async throws -> ConnectionSettings {
        let environment = ProcessInfo.processInfo.environment
        if let url = environment["SUBLEDGER_TEST_DATABASE_URL"], !url.isEmpty {
            return ConnectionSettings(url)
        }
        if let cluster = CitusCluster.shared { return cluster.coordinator }
        var options = EmbeddedServer.Options(lifetime: .process)
        // It has no replicas, and this makes it faster to create and fill tables in one
        // transaction.
        options.settings["wal_level"] = "minimal"
        options.settings["max_wal_senders"] = "0"
        // Compiling a statement takes longer than running it on so few rows.
        options.settings["jit"] = "off"
        // `bench append` opens 128 at once, beside the tests that run at the same time.
        options.settings["max_connections"] = "300"
        if environment["SUBLEDGER_TEST_FSYNC"] != "on" { options.settings["fsync"] = "off" }
        return try await EmbeddedServer(home: temporaryHome(), options: options).start()
    }

    /// A path in the temporary folder that does not exist yet.
    package static func temporaryHome() -> String {
        let name = "subledger-test-\(UUID().uuidString.prefix(8))"
        return FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    }

    /// Creates a database, lends it to the body and drops it, even if sessions are still connected.
    ///
    /// At most ``databasesAtOnceMax`` bodies run at once, each with at most
    /// ``sessionsPerDatabaseMax`` sessions. A body that requests a second database gets it at once:
    /// if it waited for a place, as many such bodies as there are places would wait forever.
    package func withDatabase<R>(
        from template: TestTemplate? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ConnectionSettings) async throws -> R
    ) async throws -> R {
        guard !TestServer.hasPlace else { return try await withOpenDatabase(from: template, body) }
        await gate.enter()
        do {
            let result = try await TestServer.$hasPlace.withValue(true) {
                try await withOpenDatabase(from: template, body)
            }
            await gate.leave()
            return result
        } catch {
            await gate.leave()
            throw error
        }
    }

    private func withOpenDatabase<R>(
        from template: TestTemplate?,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ConnectionSettings) async throws -> R
    ) async throws -> R {
        if let template { try await prepare(template) }
        let name = await nextName()
        let settings = try await create(name, from: template?.databaseName)
        do {
            let result = try await body(settings)
            try await drop(name)
            return result
        } catch {
            try await drop(name)
            throw error
        }
    }

    private func nextName() -> String {
        databasesMade += 1
        return "test_\(ProcessInfo.processInfo.processIdentifier)_\(databasesMade)"
    }

    private func prepare(_ template: TestTemplate) async throws {
        if let task = templates[template.name] { return try await task.value }
        let task = Task {
            try await drop(template.databaseName)
            let settings = try await create(template.databaseName)
            try await template.prepare(settings)
        }
        templates[template.name] = task
        try await task.value
    }

    private func create(
        _ name: String,
        from template: String? = nil
    ) async throws -> ConnectionSettings {
        if let cluster = CitusCluster.shared {
            return try await Task { try await cluster.create(name, from: template) }.value
        }
        let source = template ?? "template0 ENCODING 'UTF8' LOCALE 'C'"
        try await administer("CREATE DATABASE \(name) TEMPLATE \(source)")
        var settings = try await settings()
        settings.database = name
        if HostileShadows.areEverywhere { try await shadow(settings, isCopy: template != nil) }
        return settings
    }

    private func shadow(_ settings: ConnectionSettings, isCopy: Bool) async throws {
        guard isCopy else {
            try await HostileShadows.plant(in: settings)
            return
        }
        let session = try await PostgresSession.connect(settings)
        try await HostileShadows.mislead(session)
        await session.close()
    }

    private func drop(_ name: String) async throws {
        if let cluster = CitusCluster.shared {
            return try await Task { try await cluster.drop(name) }.value
        }
        try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Runs outside the calling test's cancellation, so that nothing is left behind.
    private func administer(_ sql: String) async throws {
        let settings = try await settings()
        try await Task {
            let session = try await PostgresSession.connect(settings)
            try await session.execute(sql)
            await session.close()
        }.value
    }
}

/// A database that is prepared once, for tests to copy.
package struct TestTemplate: Sendable {
    let name: String
    let prepare: @Sendable (ConnectionSettings) async throws -> Void

    /// Names a template in lower-case letters, and sets how to prepare it.
    ///
    /// No session may stay open in it: PostgreSQL copies only databases without other sessions.
    package init(
        _ name: String,
        prepare: @escaping @Sendable (ConnectionSettings) async throws -> Void
    ) {
        self.name = name
        self.prepare = prepare
    }

    var databaseName: String {
        "template_\(ProcessInfo.processInfo.processIdentifier)_\(name)"
    }
}
