import CPostgres
import Foundation

extension Connection {
    /// How often a wait for a notification checks for its end, in milliseconds.
    private static let notificationPollMilliseconds: Int32 = 100

    /// Waits for a NOTIFY of a channel that the session listens to; false if none came in time.
    ///
    /// Takes all that have arrived.
    func waitForNotification(by end: Deadline) throws(PostgresError) -> Bool {
        try begin(.obeyed)
        while true {
            var hasCome = false
            while let notification = PQnotifies(handle) {
                PQfreemem(notification)
                hasCome = true
            }
            if hasCome { return true }
            if end.isPassed { return false }
            if Task.isCancelled { throw Self.cancelled() }
            var descriptor = pollfd(fd: PQsocket(handle), events: Self.readable, revents: 0)
            let count = poll(&descriptor, 1, Self.notificationPollMilliseconds)
            if count < 0, errno != EINTR { throw lost() }
            if count > 0, PQconsumeInput(handle) == 0 { throw lost() }
            // Parses what has arrived, so that a farewell of the server is noticed.
            _ = PQisBusy(handle)
            if isBroken { throw lost() }
        }
    }
}
