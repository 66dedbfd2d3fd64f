import CPostgres
import Foundation

/// A request to stop the statement of a session, sent over a connection of its own.
///
/// libpq blocks while it sends one, for ever if the server is stopped or the network swallows it,
/// so it goes out on a thread of its own.
final class CancelRequest: @unchecked Sendable {
    // Used by the sending thread alone; libpq made it for use from any thread.
    private let cancel: OpaquePointer
    private let isSent = DispatchSemaphore(value: 0)

    /// Prepares the request; nil for a connection that has nothing to stop.
    init?(_ handle: OpaquePointer) {
        guard let cancel = PQgetCancel(handle) else { return nil }
        self.cancel = cancel
    }

    deinit { PQfreeCancel(cancel) }

    /// Sends it and does not wait.
    func send() {
        Thread.detachNewThread { [self] in
            var reason = [CChar](repeating: 0, count: 256)
            // A request that fails is repeated by the wait, or nobody waits for it.
            _ = PQcancel(cancel, &reason, Int32(reason.count))
            isSent.signal()
        }
    }

    /// Sends it; false if the server has not taken it after that time.
    ///
    /// Until the server has taken it, it may stop a later statement than the one it is meant for.
    func send(waitingSeconds: Int) -> Bool {
        send()
        return isSent.wait(timeout: .now() + .seconds(waitingSeconds)) == .success
    }
}
