import Foundation

/// A lock between processes, on a file; also released when the process ends.
struct FileLock: ~Copyable {
    private static let pollMicroseconds: UInt32 = 50_000

    private let descriptor: Int32

    /// Waits for the lock; throws `busy` if another process holds it for longer.
    ///
    /// Blocks its thread.
    init(path: String, timeoutSeconds: Int) throws(EmbeddedServerError) {
        // Without O_CLOEXEC the server would inherit the lock and keep it for its whole life.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw ServerFolders.failed("cannot be opened", "The lock \(path)")
        }
        let deadline = ContinuousClock.now + .seconds(timeoutSeconds)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < deadline else {
                close(descriptor)
                throw EmbeddedServerError(
                    .busy,
                    "Another process starts or stops the server and did not finish within "
                        + "\(timeoutSeconds) seconds. Check which process holds \(path)."
                )
            }
            usleep(Self.pollMicroseconds)
        }
        self.descriptor = descriptor
    }

    // A child that starts at this moment has the descriptor, too, until it runs its program.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
