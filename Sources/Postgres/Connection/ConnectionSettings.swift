/// Which database to use, and as which user.
///
/// The text is passed to libpq unchanged, so everything libpq knows (PG* variables, services,
/// password files, several hosts) works as its manual describes. Nothing of it is parsed here.
package struct ConnectionSettings: Sendable, Hashable {
    /// A session that does not open within this time counts as refused; a recovering server answers
    /// sooner, with an error.
    package static let connectTimeoutSecondsDefault = 10

    /// Seconds without traffic after which the kernel sends a TCP keepalive, unless the operator
    /// set `keepalives_idle`: shorter than the time after which firewalls drop a connection.
    package static let keepalivesIdleSeconds = 30

    /// Seconds between keepalives while no answer arrives, unless the operator set
    /// `keepalives_interval`.
    package static let keepalivesIntervalSeconds = 5

    /// Unanswered keepalives after which a connection counts as lost, unless the operator set
    /// `keepalives_count`.
    package static let keepalivesCount = 3

    /// Milliseconds after which a connection counts as lost if sent data is not acknowledged,
    /// unless the operator set `tcp_user_timeout`: if the network drops everything, an append still
    /// has time to try again over a new connection.
    package static let tcpUserTimeoutMilliseconds = 20_000

    /// A libpq connection string or URI; empty means libpq's own defaults.
    package var connectionString: String

    /// The name shown in `pg_stat_activity`, unless the operator set one.
    package var applicationName: String

    /// How long to wait for one host, in seconds, unless the operator set `connect_timeout`.
    ///
    /// libpq treats 1 as 2, and 0 as no limit.
    package var connectTimeoutSeconds: Int

    /// The role set by `SET ROLE` after connecting; nil keeps the user that logged in.
    package var role: String?

    /// The database to use instead of the one in the connection string or libpq's defaults.
    package var database: String?

    /// Where these settings come from, for errors: `--database-url`, `DATABASE_URL`.
    package var source: String?

    /// Names a database by a libpq connection string or URI.
    ///
    /// `PostgresSession.connect` finds errors in the text and reports them as `invalidSettings`.
    package init(
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
    /// Options of libpq that the connection string, its environment and its service file override.
    ///
    /// Those for TCP have no effect on Unix sockets, or on systems that do not support them.
    var defaults: [(keyword: String, value: Int)] {
        [
            ("connect_timeout", connectTimeoutSeconds), ("keepalives", 1),
            ("keepalives_idle", Self.keepalivesIdleSeconds),
            ("keepalives_interval", Self.keepalivesIntervalSeconds),
            ("keepalives_count", Self.keepalivesCount),
            ("tcp_user_timeout", Self.tcpUserTimeoutMilliseconds),
        ]
    }

    /// The connection string including ``database``, for another program to connect with.
    ///
    /// May contain a password, like the string it is made from.
    package var fullConnectionString: String {
        guard let database else { return connectionString }
        // In both forms the last occurrence of a parameter counts.
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
    /// Whether there is a connection string, the database and the role; never the connection string
    /// itself, which may contain a password.
    package var description: String {
        let place = connectionString.isEmpty ? "libpq's defaults" : "a connection string"
        let named = database.map { ", database \($0)" } ?? ""
        return "\(place)\(named)\(role.map { ", role \($0)" } ?? "")"
    }
}
