public import AppStore
package import EmbeddedPostgres
public import EventLog
package import Postgres
public import Projections
internal import Foundation

extension Ledger {
    /// The location of a ledger's database.
    public enum Database: Hashable, Sendable {
        /// A libpq connection string or URI.
        case url(String)
        /// What the environment names: `DATABASE_URL`, otherwise libpq's `PG*` variables, otherwise
        /// the private server in `$SUBLEDGER_HOME`, or in the folder `.subledger`.
        case environment
        /// A private server with its data in this folder, on a unix socket; started if it is not
        /// running.
        ///
        /// It needs PostgreSQL's server programs on this machine.
        case embedded(home: String)
    }

    /// Opens a ledger whose schema `migrate` has created.
    ///
    /// - Parameters:
    ///   - database: The location of the database.
    ///   - policy: What is trusted and accepted.
    ///   - projections: The folds whose tables the ledger builds and keeps up to date, your own
    ///     among them: `.standard + [Trials()]`. Two with one name, or a name that is not one of a
    ///     table, end the program.
    ///   - options: How the log is read and written.
    /// - Returns: The ledger.
    /// - Throws: `EventLogError`; `EmbeddedServerError` if the private server cannot be started, or
    ///   was never created.
    public static func open(
        _ database: Database,
        policy: VerificationPolicy = VerificationPolicy(),
        projections: [any Projection] = .standard,
        options: EventLog.Options = EventLog.Options()
    ) async throws -> Ledger {
        let home = database.privateHome
        let settings =
            if let home {
                try await PrivateServer.start(home: home, createIfAbsent: false)
            } else {
                try await database.settings()
            }
        var ledger = try await open(
            settings,
            policy: policy,
            projections: projections,
            options: options
        )
        if let home { ledger.privateServer = PrivateServer(home: home, settings) }
        return ledger
    }

    /// Creates the schema of a ledger, or brings it up to date; does nothing if it is up to date.
    ///
    /// - Parameters:
    ///   - database: The location of the database, which has to exist.
    ///   - lanes: How many lanes a new ledger gets, which can never be changed; nil for one, which
    ///     is right for one server.
    /// - Throws: `EventLogError`; `EmbeddedServerError` if the private server cannot be started.
    public static func migrate(_ database: Database, lanes: LaneCount? = nil) async throws {
        let settings =
            if let home = database.privateHome {
                try await PrivateServer.start(home: home, createIfAbsent: true)
            } else {
                try await database.settings()
            }
        _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: lanes))
    }

    /// Finishes the work in progress, and closes all connections.
    ///
    /// With the last ledger of this process, the private server stops, too, if `open` or `migrate`
    /// started it in this process and no other program uses it. One that ran before goes on.
    public func close() async {
        await log.close()
        await privateServer?.close()
    }
}

extension Ledger.Database {
    /// libpq's own variables; if any of them is set, libpq decides where the server is.
    private static let libpqVariables = [
        "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSERVICEFILE",
    ]

    /// The name under which the server lists connections.
    private static let applicationName = "subledger"

    /// The private server of the environment.
    package static var embeddedServer: EmbeddedServer {
        let home = ProcessEnvironment.variables["SUBLEDGER_HOME"] ?? ".subledger"
        return EmbeddedServer(home: URL(fileURLWithPath: home).path)
    }

    /// The home of the private server; nil if another database is meant.
    package var privateHome: String? {
        switch self {
        case .url: return nil
        case .embedded(let home): return URL(fileURLWithPath: home).path
        case .environment:
            guard Self.configured == nil else { return nil }
            let home = ProcessEnvironment.variables["SUBLEDGER_HOME"] ?? ".subledger"
            return URL(fileURLWithPath: home).path
        }
    }

    /// How to connect; starts the private server if it is meant and not running.
    ///
    /// - Parameter createIfAbsent: Whether a missing private server is created: only for
    ///   commands that create a ledger, never for a question.
    /// - Returns: The settings.
    /// - Throws: `EmbeddedServerError`.
    package func settings(createIfAbsent: Bool = false) async throws -> ConnectionSettings {
        if let privateHome {
            return try await EmbeddedServer(home: privateHome).start(createIfAbsent: createIfAbsent)
        }
        return configuredSettings ?? ConnectionSettings("", applicationName: Self.applicationName)
    }

    /// How to connect to a database other than the private one, without starting anything; nil for
    /// the private one.
    package var configuredSettings: ConnectionSettings? {
        guard case .url(let url) = self else {
            return privateHome == nil ? Self.configured : nil
        }
        var settings = ConnectionSettings(url, applicationName: Self.applicationName)
        settings.source = "the connection string"
        return settings
    }

    // The database that the environment names; nil if it names none.
    private static var configured: ConnectionSettings? {
        let environment = ProcessEnvironment.variables
        if let url = environment["DATABASE_URL"], !url.isEmpty {
            var settings = ConnectionSettings(url, applicationName: applicationName)
            settings.source = "DATABASE_URL"
            return settings
        }
        let named = libpqVariables.filter { environment[$0] != nil }
        guard !named.isEmpty else { return nil }
        var settings = ConnectionSettings("", applicationName: applicationName)
        settings.source = named.joined(separator: ", ")
        return settings
    }
}
