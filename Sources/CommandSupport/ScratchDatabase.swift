import EventLog
package import Postgres

/// A database created for one command on the configured server; the configured database is not
/// touched.
package struct ScratchDatabase {
    package let server: ConnectionSettings
    package let name: String

    /// Names a database of that server; nothing is created yet.
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

    /// Marks a database as one that may be dropped without asking.
    private static let comment = "made by subledger, which drops it without asking"

    /// Recreates the database and its schema.
    ///
    /// Throws a `Failure` if a database with that name was not created by this type.
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

    /// Drops it, even if others are still connected; leaves one alone that was not created by this
    /// type.
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

    // A session cannot drop its own database, so one that the settings name is dropped from
    // PostgreSQL's own database.
    private func administer(_ work: (PostgresSession) async throws -> Void) async throws {
        let current = try await PostgresSession.using(server) {
            try await $0.query("SELECT current_database()", []).single().text(0)
        }
        var administrator = server
        if current == name { administrator.database = "postgres" }
        try await PostgresSession.using(administrator, work)
    }
}
