import CPostgres
import Foundation

/// One libpq connection, used by one thread at a time.
///
/// It is always in non-blocking mode. All waiting happens in ``wait(for:_:)``, which notices that
/// the calling task was cancelled, and reads while it writes, so a server that waits for us to read
/// cannot block us for ever.
final class Connection {
    /// Whether a wait stops the running statement when the calling task is cancelled.
    enum Cancellation {
        case obeyed
        /// For COMMIT and ROLLBACK, whose outcome must be known.
        case ignored
    }

    /// How often a wait checks for cancellation: short for people, long for a processor.
    static let cancellationPollMilliseconds: Int32 = 20

    /// A cancel request that arrives before its statement starts is lost, so it is repeated.
    static let cancellationRepeatPolls = 25

    /// How long the server may take to stop a statement before the connection is given up: it needs
    /// milliseconds, unless it is stopped itself or cannot be reached.
    static let cancellationSecondsMax = 5

    static let readable = Int16(POLLIN)
    static let writable = Int16(POLLOUT)

    let handle: OpaquePointer
    var cache = StatementCache()

    /// No wait continues after it; nil for no limit.
    var deadline: Deadline?

    /// By when the server must have stopped the statement after a cancel request; nil without one.
    private var cancellationDeadline: Deadline?
    private var isAbandoned = false

    /// Connects without changing anything in the session.
    init(connectingTo settings: ConnectionSettings) throws(PostgresError) {
        handle = try Self.connect(settings)
        receiveNotices()
        guard PQsetnonblocking(handle, 1) == 0 else { throw lost() }
    }

    deinit { PQfinish(handle) }

    /// Whether the connection can run no further statement.
    var isBroken: Bool { isAbandoned || PQstatus(handle) == CONNECTION_BAD }

    /// Whether no transaction is open and no statement under way.
    var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether a transaction is open that has failed.
    var isInFailedTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// Gives the connection up once the protocol state is unknown.
    func abandon() { isAbandoned = true }

    /// Checks, without waiting, whether the server has closed the connection.
    func detectServerClose() {
        while !isBroken {
            var descriptor = pollfd(fd: PQsocket(handle), events: Self.readable, revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return }
            guard PQconsumeInput(handle) == 1 else { return abandon() }
            // Parses what has arrived, a farewell or a notice, and discards it.
            _ = PQisBusy(handle)
        }
    }

    /// Keeps notices off stderr and reacts to only one: the server's farewell to an idle session.
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

    /// Begins a statement; throws at once if the connection is lost, the deadline has passed or the
    /// task is cancelled.
    func begin(_ cancellation: Cancellation) throws(PostgresError) {
        if isBroken { throw lost() }
        if deadline?.isPassed == true { throw Self.tooLate() }
        cancellationDeadline = nil
        if cancellation == .obeyed, Task.isCancelled { throw Self.cancelled() }
    }

    /// Sends the buffered bytes.
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

    /// Waits for the next result; returns nil after the results of one command.
    func nextResult(_ cancellation: Cancellation) throws(PostgresError) -> ServerResult? {
        while PQisBusy(handle) == 1 {
            try flush(cancellation)
            if PQisBusy(handle) == 0 { break }
            _ = try wait(for: Self.readable, cancellation)
            // The result that follows reports the failure, with the server's last message.
            if PQconsumeInput(handle) == 0 { break }
        }
        return PQgetResult(handle).map { ServerResult($0) }
    }

    /// Waits until the socket is ready and returns for what; gives up the connection at the
    /// deadline.
    func wait(
        for events: Int16,
        _ cancellation: Cancellation
    ) throws(PostgresError) -> Int16 {
        var polls = 0
        while true {
            if deadline?.isPassed == true {
                // Its effect no longer matters, and the server should not wait for a lock either.
                CancelRequest(handle)?.send()
                throw unanswered("did not answer in time")
            }
            if cancellationDeadline?.isPassed == true {
                throw unanswered("did not stop the statement of a cancelled task in time")
            }
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

    /// Asks the server to stop the running statement, which fails with SQLSTATE 57014 if it runs.
    ///
    /// The next wait gives the connection up if the server does not accept the request.
    func requestCancel() {
        guard let request = CancelRequest(handle) else { return }
        let seconds = Self.cancellationSecondsMax
        cancellationDeadline = cancellationDeadline ?? Deadline(after: .seconds(seconds))
        if !request.send(waitingSeconds: seconds) { cancellationDeadline = Deadline(after: .zero) }
    }

    /// Describes a failed result, after all results of its command have been taken.
    func error(_ failure: PostgresError) -> PostgresError {
        var error = failure
        if isBroken || ["57P01", "57P02"].contains(failure.sqlState) {
            error.code = .connectionLost
            error.message = Self.lostMessage
        } else if cancellationDeadline != nil, failure.sqlState == "57014" {
            error.code = .cancelled
            error.message = Self.cancelled().message
        }
        return error
    }

    /// Gives up a connection whose server lacks what this session prepared in it.
    func exchanged(_ missing: PostgresError) -> PostgresError {
        abandon()
        var error = missing
        error.code = .connectionLost
        error.message =
            "The server behind the connection was exchanged or reset within a transaction, which "
            + "was not committed. Repeat the work on a new session."
        return error
    }

    /// Describes a connection that is gone.
    func lost() -> PostgresError {
        isAbandoned = true
        var error = PostgresError(.connectionLost, Self.lostMessage)
        error.primaryMessage = PQerrorMessage(handle).map { String(cString: $0) }
        return error
    }

    /// Gives up a connection whose server does not answer.
    private func unanswered(_ fault: String) -> PostgresError {
        abandon()
        return PostgresError(
            .deadlinePassed,
            "The database \(fault), and the connection was closed; whether a commit under way took "
                + "effect is unknown. Repeat the work on a new session if it is idempotent."
        )
    }

    /// Describes a statement that was not started because its deadline had passed.
    static func tooLate() -> PostgresError {
        PostgresError(
            .deadlinePassed,
            "The time limit of the statement passed before it began; it had no effect."
        )
    }

    static func cancelled() -> PostgresError {
        var error = PostgresError(
            .cancelled,
            "The statement was stopped because its task was cancelled; it had no effect."
        )
        error.sqlState = "57014"
        return error
    }

    private static let lostMessage =
        "The connection to the database was lost; whether a commit under way took effect is "
        + "unknown. Repeat the work on a new session if it is idempotent."
}
