import CPostgres
import Foundation

/// A request to stop the running statement of a session, sent over a separate connection.
///
/// libpq blocks while it sends one, for ever if the server is stopped or the network drops it, so
/// the request is sent on a separate thread.
final class CancelRequest: @unchecked Sendable {
    // Used only by the sending thread; libpq allows a cancel object on any thread.
    private let cancel: OpaquePointer
    private let isSent = DispatchSemaphore(value: 0)

    /// Prepares the request; nil if the connection is not valid.
    init?(_ handle: OpaquePointer) {
        guard let cancel = PQgetCancel(handle) else { return nil }
        self.cancel = cancel
    }

    deinit { PQfreeCancel(cancel) }

    /// Sends the request and does not wait.
    func send() {
        Thread.detachNewThread { [self] in
            var reason = [CChar](repeating: 0, count: 256)
            // A failed request is either repeated by the wait loop, or has no effect that matters.
            _ = PQcancel(cancel, &reason, Int32(reason.count))
            isSent.signal()
        }
    }

    /// Sends the request; false if the server has not accepted it within that time.
    ///
    /// Until the server has accepted it, it may stop a later statement than the intended one.
    func send(waitingSeconds: Int) -> Bool {
        send()
        return isSent.wait(timeout: .now() + .seconds(waitingSeconds)) == .success
    }
}
