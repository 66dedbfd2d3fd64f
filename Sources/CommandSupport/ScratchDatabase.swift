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

    /// Makes the database and its schema anew.
    package func make() async throws {
        try await drop()
        try await administer(
            "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        )
        _ = try await Migrator.migrate(settings)
    }

    /// Drops it, whoever is still connected.
    package func drop() async throws {
        try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    private func administer(_ sql: String) async throws {
        let session = try await PostgresSession.connect(server)
        try await session.execute(sql)
        await session.close()
    }
}
