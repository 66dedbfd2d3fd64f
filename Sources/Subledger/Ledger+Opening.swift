public import AppStore
package import EmbeddedPostgres
public import EventLog
package import Postgres
internal import Foundation

extension Ledger {
    /// Where a ledger's database is.
    public enum Database: Hashable, Sendable {
        /// A libpq connection string or URI.
        case url(String)
        /// What the environment names: `DATABASE_URL`, else libpq's `PG*` variables, else the
        /// private server in `$SUBLEDGER_HOME`, or in the folder `.subledger`.
        case environment
        /// A private server with its data in this folder, on a unix socket; started where it does
        /// not run. It needs PostgreSQL's server programs on this machine.
        case embedded(home: String)
    }

    /// Opens a ledger whose schema `migrate` has made.
    ///
    /// - Parameters:
    ///   - database: Where it is.
    ///   - policy: What is trusted and accepted.
    ///   - options: How the log is read and written.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`; `EmbeddedServerError` where the private server cannot be started,
    ///   or was never made.
    public static func open(
        _ database: Database,
        policy: VerificationPolicy = VerificationPolicy(),
        options: EventLog.Options = EventLog.Options()
    ) async throws -> Ledger {
        try await open(try await database.settings(), policy: policy, options: options)
    }

    /// Makes the schema of a ledger, or brings it up to date; does nothing where it is.
    ///
    /// - Parameters:
    ///   - database: Where it is; a database of that name has to be there.
    ///   - lanes: How many lanes a new ledger gets, which can never be changed; nil for one, which is
    ///     right for one server.
    /// - Throws: `EventLogError`; `EmbeddedServerError` where the private server cannot be started.
    public static func migrate(_ database: Database, lanes: LaneCount? = nil) async throws {
        _ = try await Migrator.migrate(
            try await database.settings(createIfAbsent: true),
            Migrator.Layout(lanes: lanes)
        )
    }

    /// Finishes what is under way, and closes all connections.
    public func close() async { await log.close() }
}

extension Ledger.Database {
    /// libpq's own variables; any of them set means that libpq decides where the server is.
    private static let libpqVariables = [
        "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSERVICEFILE",
    ]

    /// The name under which connections are listed by the server.
    private static let applicationName = "subledger"

    /// The private server of the environment.
    package static var embeddedServer: EmbeddedServer {
        let home = ProcessInfo.processInfo.environment["SUBLEDGER_HOME"] ?? ".subledger"
        return EmbeddedServer(home: URL(fileURLWithPath: home).path)
    }

    /// The home of the private server where that is meant; nil where another database is.
    package var privateHome: String? {
        switch self {
        case .url: return nil
        case .embedded(let home): return URL(fileURLWithPath: home).path
        case .environment:
            guard Self.configured == nil else { return nil }
            let home = ProcessInfo.processInfo.environment["SUBLEDGER_HOME"] ?? ".subledger"
            return URL(fileURLWithPath: home).path
        }
    }

    /// How to connect; starts the private server where it is meant and does not run.
    ///
    /// - Parameter createIfAbsent: Whether the private server is made where there is none: only
    ///   for what makes a ledger, never for a question.
    /// - Returns: The settings.
    /// - Throws: `EmbeddedServerError`.
    package func settings(createIfAbsent: Bool = false) async throws -> ConnectionSettings {
        if let privateHome {
            return try await EmbeddedServer(home: privateHome).start(createIfAbsent: createIfAbsent)
        }
        return configuredSettings ?? ConnectionSettings("", applicationName: Self.applicationName)
    }

    /// How to connect to a database that is not the private one, which starts nothing; nil for the
    /// private one.
    package var configuredSettings: ConnectionSettings? {
        guard case .url(let url) = self else {
            return privateHome == nil ? Self.configured : nil
        }
        var settings = ConnectionSettings(url, applicationName: Self.applicationName)
        settings.source = "the connection string"
        return settings
    }

    // What the environment names; nil where it names nothing.
    private static var configured: ConnectionSettings? {
        let environment = ProcessInfo.processInfo.environment
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
