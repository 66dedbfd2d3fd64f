package import Postgres

/// Why the event log did not do what it was asked.
public struct EventLogError: Error, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which thing, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// The database has no ledger yet.
        case notMigrated = "not-migrated"
        /// The database's schema is newer than this program.
        case schemaTooNew = "schema-too-new"
        /// The database's schema is older than this program.
        case schemaTooOld = "schema-too-old"
        /// A migration that was applied is not the one this program knows.
        case migrationEdited = "migration-edited"
        /// The database stores text in another encoding than UTF-8.
        case notUTF8 = "not-utf8"
        /// `migrate` was asked for other lanes than the ledger has.
        case laneCountFixed = "lane-count-fixed"
        /// The role may not do this.
        case permissionDenied = "permission-denied"
        /// The server lacks one of the ledger's own roles: its database was restored on a new
        /// server.
        case roleMissing = "role-missing"
        /// `migrate` did not get a lock on a table in time, because others use it.
        case tableInUse = "table-in-use"
        /// The settings that name the database cannot be understood.
        case invalidSettings = "invalid-settings"
        /// The database could not be reached, or went away and did not come back in time.
        case databaseUnavailable = "database-unavailable"
        /// The database refused for a reason that is not foreseen here.
        case database = "database"
        /// Rows of the log do not have the form that this program wrote.
        case malformedLog = "malformed-log"
        /// The clocks of this machine, of the server and of the newest commit are too far apart.
        case clockSkew = "clock-skew"
        /// Another import took the number of a version of the catalog.
        case catalogTaken = "catalog-taken"
        /// More facts came in one payload than a commit can take.
        case tooManyFacts = "too-many-facts"
        /// A look-up leads to more subscriptions than one answer takes.
        case tooManyStreams = "too-many-streams"
        /// A cursor of the feed was made from another log: this one was forked, or restored and
        /// written on.
        case cursorNotOfLog = "cursor-not-of-log"
        /// A cursor of the feed is ahead of the log: an older copy was restored.
        case cursorBeyondLog = "cursor-beyond-log"
        /// Reading the whole log takes a temporary file, which could not be made or filled.
        case temporaryFile = "temporary-file"
        /// An erasure would take payloads that prove other subscriptions, too.
        case sharedPayloads = "shared-payloads"
        /// Too many appends wait for the database; this one was not taken, try it again later.
        case queueFull = "queue-full"
        /// A pooler in front of the database does not keep what a session is set to.
        case sharedConnection = "shared-connection"
        /// The log was closed.
        case closed = "closed"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool {
        switch code {
        case .databaseUnavailable, .tableInUse, .queueFull: true
        default: false
        }
    }
}

extension EventLogError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(message) [\(code.rawValue)]" }
}

extension EventLogError {
    /// The one place where refusals of the database become ours.
    package init(_ error: PostgresError, doing action: String) {
        if error.code == .sharedConnection {
            self.init(.sharedConnection, "\(action): \(error)")
            return
        }
        if error.code == .invalidSettings {
            self.init(.invalidSettings, error.description)
            return
        }
        if let role = LedgerRole.missing(from: error) {
            self.init(
                .roleMissing,
                "\(action): this server has no role \(role.rawValue); `subledger migrate` creates "
                    + "the ledger's roles, and grants their privileges again after a restore"
            )
            return
        }
        switch error.sqlState {
        case "42P01", "3F000":
            self.init(
                .notMigrated,
                "\(action): this database has no ledger (or an older one); run `subledger migrate`"
            )
        case "42501":
            self.init(
                .permissionDenied,
                "\(action): \(error); grant the role that this needs (ledger_reader to read, "
                    + "ledger_writer to append, ledger_eraser to erase, ledger_owner and CREATE on the "
                    + "database to migrate)"
            )
        case "25006":
            self.init(
                .databaseUnavailable,
                "\(action): the server does not accept writes: it is a standby, or a demoted "
                    + "primary. Connect to the primary; libpq finds it if the connection string "
                    + "has several hosts and target_session_attrs=read-write"
            )
        default:
            self.init(
                error.isRetryable ? .databaseUnavailable : .database,
                "\(action): \(error)"
            )
        }
    }
}
