/// Where the database is and as whom to use it.
///
/// The text is handed to libpq untouched, so that everything libpq knows (PG* variables, services,
/// password files, several hosts) works as its manual says. Nothing of it is parsed here.
public struct ConnectionSettings: Sendable, Hashable {
    /// A session that does not open in this time counts as refused; a server that recovers answers
    /// sooner, with an error.
    public static let connectTimeoutSecondsDefault = 10

    /// Seconds without traffic after which the kernel asks a TCP peer whether it is still there,
    /// unless the operator set `keepalives_idle`: sooner than firewalls forget a connection.
    public static let keepalivesIdleSeconds = 30

    /// Seconds between such questions while no answer comes, unless the operator set
    /// `keepalives_interval`.
    public static let keepalivesIntervalSeconds = 5

    /// Unanswered questions after which a connection counts as lost, unless the operator set
    /// `keepalives_count`.
    public static let keepalivesCount = 3

    /// Milliseconds after which a connection counts as lost if what was sent is not acknowledged,
    /// unless the operator set `tcp_user_timeout`: an append that meets a network which swallows
    /// everything has time left to try again over a new connection.
    public static let tcpUserTimeoutMilliseconds = 20_000

    /// A libpq connection string or URI; empty means libpq's own defaults.
    public var connectionString: String

    /// The name shown in `pg_stat_activity`, unless the operator set one.
    public var applicationName: String

    /// How long to wait for one host, in seconds, unless the operator set `connect_timeout`.
    ///
    /// libpq takes 1 as 2, and 0 as for ever.
    public var connectTimeoutSeconds: Int

    /// The role taken by `SET ROLE` after connecting; nil keeps the user that logged in.
    public var role: String?

    /// A database to use instead of the one that the connection string or libpq's defaults name.
    public var database: String?

    /// Where these settings come from, for errors: `--database-url`, `DATABASE_URL`.
    public var source: String?

    /// Names a database by a libpq connection string or URI.
    ///
    /// Errors in the text are found by `PostgresSession.connect` and reported as `invalidSettings`.
    public init(
        _ connectionString: String = "",
        applicationName: String = "subledger",
        connectTimeoutSeconds: Int = ConnectionSettings.connectTimeoutSecondsDefault,
        role: String? = nil,
        database: String? = nil
    ) {
        self.connectionString = connectionString
        self.applicationName = applicationName
        self.connectTimeoutSeconds = connectTimeoutSeconds
        self.role = role
        self.database = database
    }
}

extension ConnectionSettings {
    /// Options of libpq that the connection string, its environment and its service file overrule.
    ///
    /// Those about TCP have no effect on Unix sockets, nor where the system does not know them.
    var defaults: [(keyword: String, value: Int)] {
        [
            ("connect_timeout", connectTimeoutSeconds), ("keepalives", 1),
            ("keepalives_idle", Self.keepalivesIdleSeconds),
            ("keepalives_interval", Self.keepalivesIntervalSeconds),
            ("keepalives_count", Self.keepalivesCount),
            ("tcp_user_timeout", Self.tcpUserTimeoutMilliseconds),
        ]
    }

    /// The connection string with ``database`` in it: what another program needs to get there.
    ///
    /// May hold a password, like the string it is made from.
    public var fullConnectionString: String {
        guard let database else { return connectionString }
        // In both forms the last mention of a parameter counts.
        let isURI = ["postgresql://", "postgres://"].contains { connectionString.hasPrefix($0) }
        if isURI {
            let separator = connectionString.contains("?") ? "&" : "?"
            return "\(connectionString)\(separator)dbname=\(database)"
        }
        let quoted = database.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return connectionString.isEmpty
            ? "dbname='\(quoted)'" : "\(connectionString) dbname='\(quoted)'"
    }
}

extension ConnectionSettings: CustomStringConvertible {
    /// The application's name, role and database; never the connection string, which may hold a
    /// password.
    public var description: String {
        let place = connectionString.isEmpty ? "libpq's defaults" : "a connection string"
        let named = database.map { ", database \($0)" } ?? ""
        return "\(place)\(named)\(role.map { ", role \($0)" } ?? "")"
    }
}
