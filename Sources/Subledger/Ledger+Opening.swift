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
    /// - Throws: `EventLogError`; `EmbeddedServerError` where the private server cannot be started.
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
            try await database.settings(),
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

    /// How to connect; starts the private server where it is meant and does not run.
    package func settings() async throws -> ConnectionSettings {
        switch self {
        case .url(let url):
            return ConnectionSettings(url, applicationName: Self.applicationName)
        case .embedded(let home):
            return try await EmbeddedServer(home: URL(fileURLWithPath: home).path).start()
        case .environment:
            let environment = ProcessInfo.processInfo.environment
            if let url = environment["DATABASE_URL"], !url.isEmpty {
                return ConnectionSettings(url, applicationName: Self.applicationName)
            }
            guard Self.libpqVariables.contains(where: { environment[$0] != nil }) else {
                return try await Self.embeddedServer.start()
            }
            return ConnectionSettings("", applicationName: Self.applicationName)
        }
    }
}
