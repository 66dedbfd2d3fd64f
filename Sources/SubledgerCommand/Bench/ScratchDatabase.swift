import EventLog
import Postgres

/// A database made for one command on the configured server; the configured one is not touched.
struct ScratchDatabase {
    let server: ConnectionSettings
    let name: String

    /// How to connect to it.
    var settings: ConnectionSettings {
        var settings = server
        settings.database = name
        return settings
    }

    /// Makes the database and its schema anew.
    func make() async throws {
        try await drop()
        try await administer(
            "CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        )
        _ = try await Migrator.migrate(settings)
    }

    /// Drops it, whoever is still connected.
    func drop() async throws {
        try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    private func administer(_ sql: String) async throws {
        let session = try await PostgresSession.connect(server)
        try await session.execute(sql)
        await session.close()
    }
}
