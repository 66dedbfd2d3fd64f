import EventLog
package import Postgres

/// A database made for one command on the configured server; the configured one is not touched.
package struct ScratchDatabase {
    package let server: ConnectionSettings
    package let name: String

    /// Names a database of that server; nothing is made yet.
    package init(server: ConnectionSettings, name: String) {
        self.server = server
        self.name = name
    }

    /// How to connect to it.
    package var settings: ConnectionSettings {
        var settings = server
        settings.database = name
        return settings
    }

    /// What marks a database as one that may be dropped without asking.
    private static let comment = "made by subledger, which drops it without asking"

    /// Makes the database and its schema again.
    ///
    /// Throws a `Failure` where there is a database of that name that was not made by this.
    package func make() async throws {
        try await administer { session in
            try await drop(in: session)
            try await session.execute(
                "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
            )
            try await session.execute(
                "COMMENT ON DATABASE \(name) IS '\(ScratchDatabase.comment)'"
            )
        }
        _ = try await Migrator.migrate(settings)
    }

    /// Drops it, whoever is still connected; leaves one alone that was not made by this.
    package func drop() async throws {
        try await administer { try await drop(in: $0) }
    }

    private func drop(in session: PostgresSession) async throws {
        let rows = try await session.query(
            """
            SELECT coalesce(shobj_description(oid, 'pg_database'), '') = $2
            FROM pg_database WHERE datname = $1
            """,
            [.text(name), .text(ScratchDatabase.comment)]
        )
        guard try rows.first.map({ try $0.bool(0) }) ?? true else {
            throw Failure(
                Exit.configuration,
                "this command needs the database name \(name), but a database of that name exists "
                    + "that subledger did not create; rename or drop it, or use another server"
            )
        }
        try await session.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    private func administer(_ work: (PostgresSession) async throws -> Void) async throws {
        let session = try await administrator()
        do {
            try await work(session)
        } catch {
            await session.close()
            throw error
        }
        await session.close()
    }

    // A database cannot be dropped by a session in it, so one whose name the settings have is
    // dropped from PostgreSQL's own.
    private func administrator() async throws -> PostgresSession {
        let session = try await PostgresSession.connect(server)
        let current = try await session.query("SELECT current_database()", []).single().text(0)
        guard current == name else { return session }
        await session.close()
        var other = server
        other.database = "postgres"
        return try await PostgresSession.connect(other)
    }
}
