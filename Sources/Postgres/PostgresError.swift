/// A refusal or failure of the database, of the connection to it, or of its use.
///
/// Callers switch on ``code``; equality compares it alone. `description` is safe to log: it holds
/// no row values, parameters or passwords. `debugDescription` holds everything the server said.
package struct PostgresError: Error, Sendable, Equatable {
    /// What kind of failure this is, for callers to switch on.
    package enum Code: Sendable, Hashable {
        /// libpq cannot understand the settings.
        case invalidSettings
        /// No session could be opened.
        case couldNotConnect
        /// The session was lost; it is unknown whether a commit in progress took effect.
        case connectionLost
        /// The deadline passed while waiting for the server, and the session was given up; it is
        /// unknown whether a commit in progress took effect.
        case deadlinePassed
        /// A pooler shares the server's connections between sessions, transaction by transaction.
        case sharedConnection
        /// The session or the pool was closed by its owner before this call.
        case closed
        /// The server refused the statement with this SQLSTATE.
        case server(String)
        /// The statement was stopped because the calling task was cancelled.
        case cancelled
        /// A commit was requested, but an earlier statement had failed: everything was rolled back.
        case rolledBack
        /// A value's type is not the one that the accessor reads.
        case typeMismatch
        /// A value is null where the accessor promises one.
        case unexpectedNull
        /// The bytes received do not follow PostgreSQL's protocol or binary formats.
        case protocolViolation
        /// The call breaks a rule of this module, which the message names.
        case misuse
        /// No session became free in time.
        case poolTimeout
    }

    /// What happened, for callers to switch on.
    package internal(set) var code: Code

    /// What happened, to what, what was expected and what to do next, without any value.
    package internal(set) var message: String

    /// The five characters of the server's SQLSTATE, if the server answered.
    package internal(set) var sqlState: String?

    /// The server's own message; data exceptions quote values in it.
    package internal(set) var primaryMessage: String?

    /// The server's detail; it often quotes the row, so never log it.
    package internal(set) var detail: String?

    /// The server's hint.
    package internal(set) var hint: String?

    /// The name of the violated constraint.
    package internal(set) var constraintName: String?

    /// The name of the table concerned, if the server names one.
    package internal(set) var tableName: String?

    /// The name of the column concerned, if the server names one.
    package internal(set) var columnName: String?

    /// The index, from 0, of the statement of a pipeline that failed.
    package internal(set) var statementIndex: Int?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same work, started again from the beginning, may succeed.
    ///
    /// True for serialization failures, deadlocks, a server that stops or starts, lost connections,
    /// passed deadlines, too many clients and an exhausted pool. After `connectionLost` and
    /// `deadlinePassed` the work may have been committed: repeat it only if it is idempotent.
    package var isRetryable: Bool {
        switch code {
        case .couldNotConnect, .connectionLost, .deadlinePassed, .poolTimeout: true
        case .server(let state):
            Self.isRetryable(state)
                || Self.lostServers.contains { primaryMessage?.hasPrefix($0) == true }
        default: false
        }
    }

    /// What a session of a Citus coordinator reports, without a SQLSTATE of its own, when that server
    /// dies while it waits for another one, or when it finds that a worker has ended its session.
    private static let lostServers = [
        "postmaster was shut down, exiting", "failure on connection marked as essential",
    ]

    private static let retryableStates: Set<String> = [
        "40001", "40P01", "53300", "55P03", "57P01", "57P02", "57P03",
    ]

    private static func isRetryable(_ state: String) -> Bool {
        retryableStates.contains(state) || state.hasPrefix("08")
    }

    /// The error of a BEGIN; on a standby, which refuses READ WRITE as an unsupported feature, with
    /// the SQLSTATE of every other write there.
    var ofBegin: PostgresError {
        guard sqlState == "0A000" else { return self }
        var error = self
        (error.code, error.sqlState) = (.server("25006"), "25006")
        error.message = "The server does not accept writes: it is a standby, or is recovering."
        return error
    }

    /// Compares only the codes.
    package static func == (left: PostgresError, right: PostgresError) -> Bool {
        left.code == right.code
    }
}

extension PostgresError {
    /// The error for a row whose values have the right types and cannot be what the caller wrote.
    ///
    /// `message` names the row and what to do, without its values.
    package static func impossibleRow(_ message: String) -> PostgresError {
        PostgresError(.typeMismatch, message)
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The failure in one line that is safe to log.
    package var description: String {
        var text = message
        if let statementIndex { text += " (statement \(statementIndex) of the pipeline)" }
        if let sqlState { text += " [SQLSTATE \(sqlState)]" }
        if let constraintName { text += " [constraint \(constraintName)]" }
        if let tableName { text += " [table \(tableName)]" }
        if let columnName { text += " [column \(columnName)]" }
        return text
    }

    /// Everything that is known, including values quoted by the server; not for logs.
    package var debugDescription: String {
        var text = description
        if let primaryMessage { text += "\n  message: \(primaryMessage)" }
        if let detail { text += "\n  detail: \(detail)" }
        if let hint { text += "\n  hint: \(hint)" }
        return text
    }
}

extension PostgresError: PostgresErrorConvertible {
    /// Returns the error unchanged.
    package init(_ error: PostgresError) { self = error }
}
