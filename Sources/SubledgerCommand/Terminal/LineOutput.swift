import CommandSupport
import Foundation

/// Whole lines to stdout, no faster than the reader takes them, for as long as there is one.
///
/// Holds a few kilobytes: what `flush` cannot write yet is waited for, and a request to stop is
/// heeded meanwhile.
struct LineOutput {
    /// Why nothing more can be written.
    enum End: Error {
        /// The reader closed its end: `head` had enough.
        case readerGone
        /// Somebody asked to stop while the reader took nothing.
        case stopped
    }

    private var buffer: [UInt8] = []

    /// Bytes after which lines are written: few calls a page, and little to hold.
    private static let flushBytes = 65_536

    /// How long a reader that takes nothing is waited for before it is asked again whether to stop.
    private static let waitMilliseconds: Int32 = 100

    /// Adds a line, end included, and writes what is held once it is much.
    mutating func add(_ write: (inout [UInt8]) -> Void) throws {
        write(&buffer)
        if buffer.count >= LineOutput.flushBytes { try flush() }
    }

    /// Writes what is held.
    ///
    /// Throws `End`, and a `Failure` where stdout cannot be written for another reason. After an
    /// error the last line may be cut.
    mutating func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                try LineOutput.waitUntilWritable()
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(PIPE_BUF)))
                let written = write(1, piece.baseAddress, piece.count)
                if written > 0 { rest = rest.dropFirst(written) }
                if written < 0 { try LineOutput.throwUnlessTransient(errno) }
            }
        }
    }

    /// Whether the reader closed its end; false where stdout is no pipe.
    static var isReaderGone: Bool {
        var place = pollfd(fd: 1, events: 0, revents: 0)
        return poll(&place, 1, 0) == 1 && place.revents & Int16(POLLERR | POLLHUP) != 0
    }

    // A pipe that is writable takes PIPE_BUF bytes without blocking, so that no write holds up a
    // request to stop; a file is always writable.
    private static func waitUntilWritable() throws(End) {
        var place = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        while poll(&place, 1, waitMilliseconds) <= 0 {
            if Interrupt.isRequested { throw .stopped }
        }
    }

    private static func throwUnlessTransient(_ number: Int32) throws {
        switch number {
        case EINTR, EAGAIN: return
        case EPIPE, ECONNRESET: throw End.readerGone
        default:
            throw Failure(
                Exit.internalError,
                "stdout cannot be written: \(String(cString: strerror(number))); resume after "
                    + "the cursor of the last complete line that was written"
            )
        }
    }
}
