import ArgumentParser
import Foundation
import Synchronization

/// Writes whole texts to stdout and stderr, whatever is behind them: a full disk or a reader that
/// is gone never crashes a command.
package enum StandardStream {
    /// Collects what the current task writes to stdout and stderr; nil for the process's own
    /// streams.
    @TaskLocal package static var captured: CapturedStreams?

    private static let isReaderGone = Atomic<Bool>(false)

    /// Whether the stream is a terminal; a captured one is not.
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        captured == nil && isatty(descriptor) == 1
    }

    /// Reserves the descriptors of streams that the caller has closed; otherwise the next database
    /// connection would get one, and an answer would be written into it.
    package static func reserve() {
        for (descriptor, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
            guard fcntl(Int32(descriptor), F_GETFD) < 0 else { continue }
            // open returns the lowest free number; using it fails as if it were closed.
            _ = open("/dev/null", mode)
        }
    }

    /// Writes bytes to stdout.
    ///
    /// Once the reader has closed its end nothing more is written, and the command ends normally:
    /// `verify | head` still reports its result by the exit code. If stdout cannot be written for
    /// another reason, the process ends with that reason and the exit code of `feed`.
    package static func writeOutput(_ bytes: [UInt8]) {
        if let captured { return captured.append(bytes, to: 1) }
        guard !isReaderGone.load(ordering: .relaxed), !Pager.takes(bytes, for: 1),
            let number = write(bytes, to: 1)
        else { return }
        if number == EPIPE || number == ECONNRESET {
            isReaderGone.store(true, ordering: .relaxed)
            return
        }
        writeErrors(
            Array(
                ("subledger: stdout cannot be written: \(String(cString: strerror(number))); "
                    + "completed work is kept; run again with a writable stdout\n").utf8
            )
        )
        exit(Exit.internalError.rawValue)
    }

    /// Writes bytes to stderr; failures are ignored, because they cannot be reported.
    package static func writeErrors(_ bytes: [UInt8]) {
        if let captured { return captured.append(bytes, to: 2) }
        _ = write(bytes, to: 2)
    }

    /// Writes all of the bytes, as slowly as the reader takes them.
    ///
    /// - Returns: The error number if that failed; otherwise nil.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest)
                let written = Foundation.write(descriptor, piece.baseAddress, piece.count)
                if written >= 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    // Another process made the pipe non-blocking.
                    var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&place, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}
