internal import Foundation
package import Postgres
internal import Synchronization

/// Databases that a test has to itself: copied from a template that is prepared once in a process,
/// and dropped afterwards.
package actor TemporaryDatabases {
    /// A database that is prepared once, to be copied.
    package struct Template: Sendable {
        fileprivate let name: String
        fileprivate let prepare: @Sendable (ConnectionSettings) async throws -> Void

        /// Names a template in lower-case letters, and sets how to prepare it.
        ///
        /// No session may stay open in it: PostgreSQL copies only databases without other sessions.
        package init(
            _ name: String,
            prepare: @escaping @Sendable (ConnectionSettings) async throws -> Void
        ) {
            self.name = "template_\(ProcessInfo.processInfo.processIdentifier)_\(name)"
            self.prepare = prepare
        }
    }

    /// How databases are made and dropped where that takes more than a statement.
    package struct Cluster: Sendable {
        let create: @Sendable (_ name: String, _ from: String?) async throws -> ConnectionSettings
        let drop: @Sendable (_ name: String) async throws -> Void

        /// A cluster that makes and drops a database in these ways.
        package init(
            create: @escaping @Sendable (String, String?) async throws -> ConnectionSettings,
            drop: @escaping @Sendable (String) async throws -> Void
        ) {
            self.create = create
            self.drop = drop
        }
    }

    private let cluster: Cluster?
    private let created: @Sendable (ConnectionSettings, _ isCopy: Bool) async throws -> Void
    private let gate: Gate
    private var templates: [String: Task<Void, any Error>] = [:]
    @TaskLocal private static var hasPlace = false
    private static let databasesMade = Atomic<Int>(0)

    /// Databases on the server of the process, or in a cluster.
    ///
    /// - Parameters:
    ///   - atOnceMax: How many are lent at once.
    ///   - cluster: Where they are instead; nil for the server of the process.
    ///   - created: Called with each new database, and whether it is a copy of a template.
    package init(
        atOnceMax: Int,
        in cluster: Cluster? = nil,
        created: @escaping @Sendable (ConnectionSettings, Bool) async throws -> Void = { _, _ in }
    ) {
        self.cluster = cluster
        self.created = created
        gate = Gate(width: atOnceMax)
    }

    /// Creates a database, lends it to the body and drops it, even if sessions are still connected.
    ///
    /// A body that requests a second database gets it at once: if it waited for a place, as many
    /// such bodies as there are places would wait forever.
    package func withDatabase<R>(
        from template: Template? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ConnectionSettings) async throws -> R
    ) async throws -> R {
        guard !TemporaryDatabases.hasPlace else {
            return try await withOpenDatabase(from: template, body)
        }
        await gate.enter()
        do {
            let result = try await TemporaryDatabases.$hasPlace.withValue(true) {
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
        from template: Template?,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ConnectionSettings) async throws -> R
    ) async throws -> R {
        if let template { try await prepare(template) }
        let number = TemporaryDatabases.databasesMade.add(1, ordering: .relaxed).newValue
        let name = "test_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        let settings = try await create(name, from: template?.name)
        do {
            let result = try await body(settings)
            try await drop(name)
            return result
        } catch {
            try await drop(name)
            throw error
        }
    }

    private func prepare(_ template: Template) async throws {
        if let task = templates[template.name] { return try await task.value }
        let task = Task {
            try await drop(template.name)
            let settings = try await create(template.name)
            try await template.prepare(settings)
        }
        templates[template.name] = task
        try await task.value
    }

    private func create(
        _ name: String,
        from template: String? = nil
    ) async throws -> ConnectionSettings {
        if let cluster { return try await Task { try await cluster.create(name, template) }.value }
        let source = template ?? "template0 ENCODING 'UTF8' LOCALE 'C'"
        let strategy = try await TemporaryDatabases.strategy.value
        try await administer("CREATE DATABASE \(name) TEMPLATE \(source)\(strategy)")
        var settings = try await TemporaryDatabases.server.value
        settings.database = name
        try await created(settings, template != nil)
        return settings
    }

    private func drop(_ name: String) async throws {
        if let cluster { return try await Task { try await cluster.drop(name) }.value }
        try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Runs outside the calling test's cancellation, so that nothing is left behind.
    private func administer(_ sql: String) async throws {
        let settings = try await TemporaryDatabases.server.value
        try await Task {
            let session = try await PostgresSession.connect(settings)
            try await session.execute(sql)
            await session.close()
        }.value
    }
}

extension TemporaryDatabases {
    /// The server of the process, started when it is first needed: the one that
    /// SUBLEDGER_TEST_DATABASE_URL names, as a user that may create databases; otherwise an embedded
    /// one in a temporary folder that disappears with the process, without fsync unless
    /// SUBLEDGER_TEST_FSYNC is `on`.
    package static let server = Task { try await start() }

    // Where nothing is synced, copying the files takes half of the processor that logging each block
    // takes: 21 instead of 44 ms to make and drop a ledger. PostgreSQL 14 knows no other way.
    private static let strategy = Task {
        let session = try await PostgresSession.connect(try await server.value)
        let strategy = try await session.query(
            """
            SELECT CASE WHEN current_setting('fsync') = 'off'
                AND current_setting('server_version_num')::integer >= 150000
                THEN ' STRATEGY FILE_COPY' ELSE '' END
            """
        )
        .single().text(0)
        await session.close()
        return strategy
    }

    /// A path in the temporary folder that does not exist yet.
    package static func temporaryHome() -> String {
        let name = "subledger-test-\(UUID().uuidString.prefix(8))"
        return FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    }

    private static func start() async throws -> ConnectionSettings {
        let environment = ProcessInfo.processInfo.environment
        if let url = environment["SUBLEDGER_TEST_DATABASE_URL"], !url.isEmpty {
            return ConnectionSettings(url)
        }
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
}
