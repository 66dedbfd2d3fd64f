package import Postgres

/// Why an operation of the event log failed.
public struct EventLogError: Error, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which object, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// The database has no ledger yet.
        case notMigrated = "not-migrated"
        /// The database's schema is newer than this program.
        case schemaTooNew = "schema-too-new"
        /// The database's schema is older than this program.
        case schemaTooOld = "schema-too-old"
        /// An applied migration differs from the one in this program.
        case migrationEdited = "migration-edited"
        /// The database uses an encoding other than UTF-8.
        case notUTF8 = "not-utf8"
        /// `migrate` was asked for a number of lanes that differs from the ledger's.
        case laneCountFixed = "lane-count-fixed"
        /// `migrate` was asked to distribute the ledger over several servers, which this database
        /// cannot do.
        case notDistributable = "not-distributable"
        /// The role lacks the privilege.
        case permissionDenied = "permission-denied"
        /// The server lacks one of the ledger's own roles: its database was restored on a new
        /// server.
        case roleMissing = "role-missing"
        /// `migrate` could not lock a table in time, because others use it.
        case tableInUse = "table-in-use"
        /// The settings that name the database are invalid.
        case invalidSettings = "invalid-settings"
        /// The database could not be reached, or went away and did not come back in time.
        case databaseUnavailable = "database-unavailable"
        /// All connections that the database allows are in use.
        case tooManyConnections = "too-many-connections"
        /// The disk of the database server is full.
        case diskFull = "disk-full"
        /// A server of a distributed ledger cannot be reached, and its lanes are needed.
        case lanesUnavailable = "lanes-unavailable"
        /// The database refused for a reason not handled here.
        case database = "database"
        /// Rows of the log are not in the format of this program.
        case malformedLog = "malformed-log"
        /// The server stored fewer rows than an append sent; nothing was appended.
        case rowsDropped = "rows-dropped"
        /// The clocks of this machine, the server and the newest commit are too far apart.
        case clockSkew = "clock-skew"
        /// Another import took the number of a version of the catalog.
        case catalogTaken = "catalog-taken"
        /// One payload has more facts than a commit can contain.
        case tooManyFacts = "too-many-facts"
        /// A look-up leads to more subscriptions than one answer may contain.
        case tooManyStreams = "too-many-streams"
        /// A cursor of the feed comes from another log: this one was forked, or restored and then
        /// written to.
        case cursorNotOfLog = "cursor-not-of-log"
        /// A cursor of the feed is ahead of the log: an older copy was restored.
        case cursorBeyondLog = "cursor-beyond-log"
        /// Reading the whole log needs a temporary file, which could not be created or written.
        case temporaryFile = "temporary-file"
        /// A file of moved payloads is missing, damaged, or could not be written.
        case evidenceFile = "evidence-file"
        /// An erasure would remove payloads that also prove other subscriptions.
        case sharedPayloads = "shared-payloads"
        /// Too many appends are waiting for the database; this one was not accepted, try it again
        /// later.
        case queueFull = "queue-full"
        /// Another process reads as the consumer of that name.
        case consumerInUse = "consumer-in-use"
        /// The consumer of that name reads something else.
        case consumerOfOtherStream = "consumer-of-other-stream"
        /// A pooler in front of the database does not preserve session settings.
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
        case .databaseUnavailable, .lanesUnavailable, .tableInUse, .queueFull, .tooManyConnections,
            .diskFull, .consumerInUse:
            true
        default: false
        }
    }
}

extension EventLogError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(message) [\(code.rawValue)]" }
}

extension EventLogError {
    /// Converts an error of the database; the only place that does so.
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
        case "53100":
            self.init(
                .diskFull,
                "\(action): the disk of the database server is full. Free space there, or add "
                    + "some. \(error)"
            )
        case "53300":
            self.init(.tooManyConnections, "\(action): \(error)")
        default:
            self.init(
                error.isRetryable ? .databaseUnavailable : .database,
                "\(action): \(error)"
            )
        }
    }
}
