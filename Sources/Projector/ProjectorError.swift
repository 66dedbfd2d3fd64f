public import EventLog
internal import Postgres

/// Why an operation of the projector failed.
public struct ProjectorError: Error, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which object, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: Sendable, Hashable {
        /// No projection has the given name.
        case unknownProjection
        /// The log could not be read.
        case log(EventLogError.Code)
        /// The database could not be reached, or the connection was lost.
        case databaseUnavailable
        /// A session keeps reading the live tables.
        case viewsInUse
        /// No table is ready to be promoted.
        case nothingReady
        /// There is no live table yet.
        case nothingLive
        /// The schema for tables cannot be created, or is not one of ours.
        case schemaTaken
        /// The log is not the one that the tables were built from.
        case logForked
        /// What folds use besides the log, above all the catalog, cannot be read.
        case unreadableCatalog
        /// The role lacks the privilege.
        case permissionDenied
        /// The database refused.
        case database
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: any Error, doing action: String) {
        switch error {
        case let error as ProjectorError: self = error
        case let error as EventLogError: self.init(.log(error.code), error.description)
        case let error as PostgresError where error.sqlState == "42501":
            self.init(
                .permissionDenied,
                "\(action): \(error). Tables of projections belong to the role ledger_projector: "
                    + "GRANT ledger_projector to the role that you connect with, and CREATE on the "
                    + "database. If another role owns them, for example after a restore, "
                    + "`subledger migrate` corrects the owner"
            )
        case let error as PostgresError where error.sqlState == "25006":
            self.init(.databaseUnavailable, EventLogError(error, doing: action).message)
        case let error as PostgresError where LedgerRole.missing(from: error) != nil:
            self.init(.log(.roleMissing), EventLogError(error, doing: action).message)
        case let error as PostgresError:
            self.init(
                error.isRetryable ? .databaseUnavailable : .database,
                "\(action): \(error)"
            )
        default: self.init(.database, "\(action): \(error)")
        }
    }
}

extension ProjectorError {
    /// Whether a repetition may succeed later, because a server comes back.
    package var isPassing: Bool {
        switch code {
        case .databaseUnavailable, .log(.databaseUnavailable), .log(.lanesUnavailable): true
        default: false
        }
    }
}

extension ProjectorError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
