import Foundation

/// A file, a pipe or stdin, open for reading.
///
/// Returns what is available now, without waiting to fill a buffer. A wait for a pipe ends when the
/// operator asks to stop, even while no process has the pipe open for writing.
final class InputFile {
    /// Its file descriptor.
    let descriptor: Int32
    /// Whether it can be read from its beginning again, and never blocks.
    let isSeekable: Bool
    private let isOwned: Bool

    /// Bytes that are read at once.
    static let chunkByteCount = 1 << 18

    /// The interval at which a wait checks whether to end, in milliseconds.
    private static let pollMilliseconds: Int32 = 200

    /// Stdin, which stays open.
    static var standardInput: InputFile { InputFile(STDIN_FILENO, isOwned: false) }

    /// Takes ownership of a descriptor.
    init(_ descriptor: Int32, isOwned: Bool = true) {
        self.descriptor = descriptor
        self.isOwned = isOwned
        isSeekable = FileStatus(of: descriptor)?.kind == .file
    }

    /// Opens the file at a path; throws the system's message if it cannot.
    convenience init(_ path: RawPath) throws(InputFailure) {
        // Without O_NONBLOCK, opening a named pipe waits for a writer, and no signal ends that.
        let descriptor = path.withSystemPath { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        guard descriptor >= 0 else { throw InputFailure(errno) }
        self.init(descriptor)
    }

    deinit { if isOwned { close(descriptor) } }

    /// The next bytes; empty at the end, and once the operator asked to stop or the task is
    /// cancelled.
    func read() throws(InputFailure) -> [UInt8] {
        while !Interrupt.isRequested, !Task.isCancelled {
            guard isSeekable || isReady else { continue }
            var failure: Int32?
            let chunk = [UInt8](unsafeUninitializedCapacity: InputFile.chunkByteCount) {
                let count = Foundation.read(descriptor, $0.baseAddress, $0.count)
                (failure, $1) = (count < 0 ? errno : nil, max(0, count))
            }
            guard let failure else { return chunk }
            guard failure == EINTR || failure == EAGAIN else { throw InputFailure(failure) }
        }
        return []
    }

    // A pipe that no process has opened for writing yet is not at its end.
    private var isReady: Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, InputFile.pollMilliseconds) > 0
    }

    /// Its current offset, even after another program read from the descriptor; 0 for a pipe.
    var offset: Int64 { isSeekable ? Int64(lseek(descriptor, 0, SEEK_CUR)) : 0 }

    /// Goes back to the beginning.
    func rewind() { lseek(descriptor, 0, SEEK_SET) }
}

/// Why a file cannot be read: the system's message.
struct InputFailure: Error {
    /// One sentence without its full stop.
    let reason: String

    /// For an error number of the system.
    init(_ number: Int32) { reason = String(cString: strerror(number)) }
}
