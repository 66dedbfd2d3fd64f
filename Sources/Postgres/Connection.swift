import CPostgres
import Foundation

/// One libpq connection, used by one thread at a time.
///
/// It is in non-blocking mode throughout: whatever waits, waits in ``wait(for:_:)``, where it
/// notices that the calling task was cancelled, and reads while it writes, so that a server that
/// waits for us to read cannot block us for ever.
final class Connection {
    /// Whether a wait stops the running statement when the calling task is cancelled.
    enum Cancellation {
        case obeyed
        /// For COMMIT and ROLLBACK, whose outcome must be known.
        case ignored
    }

    /// How soon a wait notices that its task was cancelled; short for people, long for a processor.
    static let cancellationPollMilliseconds: Int32 = 20

    /// A cancel request that arrives before its statement starts is lost, hence the repetition.
    static let cancellationRepeatPolls = 25

    static let readable = Int16(POLLIN)
    static let writable = Int16(POLLOUT)

    let handle: OpaquePointer
    var cache = StatementCache()

    /// Whether the server was asked to stop the statement that now runs.
    private var cancelWasRequested = false
    private var isAbandoned = false

    init(_ settings: ConnectionSettings) throws(PostgresError) {
        handle = try Self.connect(settings)
        receiveNotices()
        guard PQsetnonblocking(handle, 1) == 0 else { throw lost() }
        if let role = settings.role { try become(role) }
    }

    private func become(_ role: String) throws(PostgresError) {
        do throws(PostgresError) {
            try execute("SET ROLE \(try quotedIdentifier(role))", .obeyed)
        } catch {
            guard error.sqlState == "22023" else { throw error }
            var named = error
            named.message =
                "This server has no role \(role), which the connection was to take. Create it, or "
                + "name another."
            throw named
        }
    }

    deinit { PQfinish(handle) }

    /// Whether the connection can serve no further statement.
    var isBroken: Bool { isAbandoned || PQstatus(handle) == CONNECTION_BAD }

    /// Whether no transaction is open and no statement under way.
    var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether a transaction is open that has failed.
    var isInFailedTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// Gives the connection up after the protocol's state can no longer be known.
    func abandon() { isAbandoned = true }

    /// Looks, without waiting, whether the server has hung up.
    func noticeHangUp() {
        while !isBroken {
            var descriptor = pollfd(fd: PQsocket(handle), events: Self.readable, revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return }
            guard PQconsumeInput(handle) == 1 else { return abandon() }
            // Parses what has come, a farewell or a notice, for nobody.
            _ = PQisBusy(handle)
        }
    }

    /// Keeps notices from stderr, and notices one: the server's farewell to an idle session.
    private func receiveNotices() {
        let receiver: PQnoticeReceiver = { connection, notice in
            guard let connection, let notice,
                let severity = PQresultErrorField(notice, subledger_diag_severity),
                ["FATAL", "PANIC"].contains(String(cString: severity))
            else { return }
            Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().abandon()
        }
        // Unretained, because libpq calls it only from calls that this object makes.
        PQsetNoticeReceiver(handle, receiver, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Begins a statement: refuses at once on a connection or for a task that is at its end.
    func begin(_ cancellation: Cancellation) throws(PostgresError) {
        if isBroken { throw lost() }
        cancelWasRequested = false
        if cancellation == .obeyed, Task.isCancelled { throw Self.cancelled() }
    }

    /// Sends what is buffered.
    func flush(_ cancellation: Cancellation) throws(PostgresError) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                let ready = try wait(for: Self.readable | Self.writable, cancellation)
                if ready & Self.readable != 0, PQconsumeInput(handle) == 0 { throw lost() }
            default: throw lost()
            }
        }
    }

    /// Waits for the next result; nil ends the results of one command.
    func nextResult(_ cancellation: Cancellation) throws(PostgresError) -> ServerResult? {
        while PQisBusy(handle) == 1 {
            try flush(cancellation)
            if PQisBusy(handle) == 0 { break }
            _ = try wait(for: Self.readable, cancellation)
            // A failure is reported by the result that follows, with the server's last words.
            if PQconsumeInput(handle) == 0 { break }
        }
        return PQgetResult(handle).map { ServerResult($0) }
    }

    /// Waits until the socket is ready and says for what.
    func wait(
        for events: Int16,
        _ cancellation: Cancellation
    ) throws(PostgresError) -> Int16 {
        var polls = 0
        while true {
            if cancellation == .obeyed, Task.isCancelled {
                if polls % Self.cancellationRepeatPolls == 0 { requestCancel() }
                polls += 1
            }
            var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            let count = poll(&descriptor, 1, Self.cancellationPollMilliseconds)
            if count > 0 { return descriptor.revents }
            if count < 0, errno != EINTR { throw lost() }
        }
    }

    /// Asks the server to stop what runs; it answers with SQLSTATE 57014, if it still runs.
    func requestCancel() {
        guard let cancel = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(cancel) }
        var reason = [CChar](repeating: 0, count: 256)
        // A request that fails is repeated by the wait, so its reason is of no use.
        _ = PQcancel(cancel, &reason, Int32(reason.count))
        cancelWasRequested = true
    }

    /// Describes a failed result, after all results of its command were taken.
    func error(_ failure: PostgresError) -> PostgresError {
        var error = failure
        if isBroken || ["57P01", "57P02"].contains(failure.sqlState) {
            error.code = .connectionLost
            error.message = Self.lostMessage
        } else if cancelWasRequested, failure.sqlState == "57014" {
            error.code = .cancelled
            error.message = Self.cancelled().message
        }
        return error
    }

    /// Describes a connection that is gone.
    func lost() -> PostgresError {
        isAbandoned = true
        var error = PostgresError(.connectionLost, Self.lostMessage)
        error.primaryMessage = PQerrorMessage(handle).map { String(cString: $0) }
        return error
    }

    static func cancelled() -> PostgresError {
        var error = PostgresError(
            .cancelled,
            "The statement was stopped because its task was cancelled; nothing of it took effect."
        )
        error.sqlState = "57014"
        return error
    }

    private static let lostMessage =
        "The connection to the database was lost; whether a commit under way took effect is "
        + "unknown. Repeat the work on a new session, if it is idempotent."

    private func quotedIdentifier(_ name: String) throws(PostgresError) -> String {
        guard let quoted = PQescapeIdentifier(handle, name, name.utf8.count) else {
            throw PostgresError(.invalidSettings, "The role's name is not valid UTF-8 text.")
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }
}

extension Connection {
    private static func connect(
        _ settings: ConnectionSettings
    ) throws(PostgresError) -> OpaquePointer {
        try check(settings)
        var pairs = [("fallback_application_name", settings.applicationName)]
        // Before dbname, so that the connection string has the last word; libpq's environment and
        // service have it too, where they speak of it.
        if !defaultsName("connect_timeout") {
            pairs.append(("connect_timeout", String(settings.connectTimeoutSeconds)))
        }
        pairs.append(("dbname", settings.connectionString))
        if let database = settings.database { pairs.append(("dbname", database)) }
        pairs.append(("client_encoding", "UTF8"))
        let handle = withCStrings(pairs.map(\.0)) { keywords in
            withCStrings(pairs.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let handle else {
            throw PostgresError(.couldNotConnect, "libpq has no memory for a connection.")
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            defer { PQfinish(handle) }
            throw refused(handle)
        }
        return handle
    }

    /// Finds mistakes in the text before libpq quotes pieces of it in an error.
    private static func check(_ settings: ConnectionSettings) throws(PostgresError) {
        let text = settings.connectionString
        guard text.contains("=") || text.contains("://") else { return }
        var reason: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &reason)
        defer {
            PQconninfoFree(options)
            PQfreemem(reason)
        }
        guard options == nil else { return }
        var error = PostgresError(
            .invalidSettings,
            "The connection string is not one libpq understands: expected key=value pairs or a "
                + "postgresql:// URI. Percent-encode special characters in a URI's password."
        )
        error.detail = reason.map { String(cString: $0) }
        throw error
    }

    private static func defaultsName(_ keyword: String) -> Bool {
        guard let defaults = PQconndefaults() else { return false }
        defer { PQconninfoFree(defaults) }
        var option = defaults
        while let name = option.pointee.keyword {
            if String(cString: name) == keyword { return option.pointee.val != nil }
            option += 1
        }
        return false
    }

    private static func refused(_ handle: OpaquePointer) -> PostgresError {
        let words = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        // libpq quotes host and port, and a password with `/` or `@` in a URI is read as those;
        // so only phrases known to be harmless are repeated.
        let reason = refusalReasons.first { words.contains($0) } ?? "see the debug description"
        var error = PostgresError(
            .couldNotConnect,
            "No session with the database could be opened (\(reason)). Check that the server runs "
                + "and that DATABASE_URL or the PG* variables name it and a user it admits."
        )
        error.primaryMessage = words
        return error
    }

    private static let refusalReasons = [
        "Connection refused", "No such file or directory", "Permission denied",
        "authentication failed", "no password supplied", "too many clients", "too many connections",
        "the database system is starting up", "the database system is shutting down",
        "the database system is in recovery mode", "timeout expired",
        "could not translate host name", "requirepeer", "does not exist", "no pg_hba.conf entry",
        "SSL", "definition of service",
    ]
}

/// Lends C copies of strings, ended by a null pointer.
func withCStrings<R>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) throws -> R
) rethrows -> R {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var pointers = copies.map { UnsafePointer<CChar>($0) }
    pointers.append(nil)
    return try pointers.withUnsafeBufferPointer { try body($0.baseAddress) }
}
