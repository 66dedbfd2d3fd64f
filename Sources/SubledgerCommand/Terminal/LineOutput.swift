import CommandSupport
import Foundation

/// Writes whole lines to stdout, no faster than the reader takes them, while there is a reader.
///
/// Buffers a few kilobytes: `flush` waits until they can be written, and responds to a request to
/// stop in the meantime.
struct LineOutput {
    /// Why nothing more can be written.
    enum End: Error {
        /// The reader closed its end, such as `head` when it is done.
        case readerGone
        /// A stop was requested while the reader took nothing.
        case stopped
    }

    private var buffer: [UInt8] = []

    /// Bytes at which lines are written: few calls for each page, and little to buffer.
    private static let flushBytes = 65_536

    /// Milliseconds between checks for a request to stop, while the reader takes nothing.
    private static let waitMilliseconds: Int32 = 100

    /// Adds a line, with its newline, and writes the buffer once it is full.
    mutating func add(_ write: (inout [UInt8]) -> Void) throws {
        write(&buffer)
        if buffer.count >= LineOutput.flushBytes { try flush() }
    }

    /// Writes the buffer.
    ///
    /// Throws `End`, or a `Failure` if stdout cannot be written for another reason. After an error
    /// the last line may be incomplete.
    mutating func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard StandardStream.captured == nil else { return StandardStream.writeOutput(buffer) }
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

    /// Whether the reader closed its end; false if stdout is not a pipe.
    static var isReaderGone: Bool {
        guard StandardStream.captured == nil else { return false }
        var place = pollfd(fd: 1, events: 0, revents: 0)
        return poll(&place, 1, 0) == 1 && place.revents & Int16(POLLERR | POLLHUP) != 0
    }

    // A writable pipe accepts PIPE_BUF bytes without blocking, so no write delays a request to
    // stop; a file is always writable.
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
