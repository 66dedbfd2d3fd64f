import CommandSupport
import Foundation

/// What a service tells systemd, if systemd started it with `Type=notify`: the protocol of
/// sd_notify(3), sd_watchdog_enabled(3) and sd-daemon(3).
struct ServiceManager: Sendable {
    /// How often systemd expects to hear that the service works; nil if it does not.
    let watchdogInterval: Duration?
    private let path: [UInt8]

    /// The manager that the environment names; nil if none expects to be told anything.
    ///
    /// - Parameters:
    ///   - environment: The variables of the process.
    ///   - processId: The process, because a child inherits the variables of its parent.
    init?(
        _ environment: [String: String],
        processId: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        let path = environment["NOTIFY_SOCKET"].map { Array($0.utf8) } ?? []
        guard let first = path.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            path.count < ServiceManager.pathByteCountMax
        else { return nil }
        // An abstract address begins with a NUL.
        self.path = first == UInt8(ascii: "@") ? [0] + path.dropFirst() : path
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(processId)" } ?? true
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap {
            isOurs && $0 > 0 ? .microseconds($0) : nil
        }
    }

    /// The room for a path in the address of a socket.
    private static let pathByteCountMax = 108

    /// Sends lines such as `READY=1`.
    ///
    /// - Returns: Whether the manager received them.
    @discardableResult
    func notify(_ lines: [String]) -> Bool {
        #if os(Linux)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let message = Array(lines.joined(separator: "\n").utf8)
        let size = MemoryLayout<sa_family_t>.size + path.count
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(
                    descriptor,
                    message,
                    message.count,
                    Int32(MSG_NOSIGNAL),
                    address,
                    socklen_t(size)
                )
            }
        }
        return sent == message.count
        #else
        return false
        #endif
    }

    /// The socket that systemd opened for the process and passed to it, as sd_listen_fds(3) says; nil
    /// if it passed none.
    ///
    /// - Throws: `Failure` if it is not one TCP socket that listens.
    static func listeningSocket(
        _ environment: [String: String],
        processId: Int32 = ProcessInfo.processInfo.processIdentifier
    ) throws -> Int32? {
        guard let count = environment["LISTEN_FDS"].flatMap(Int.init), count > 0,
            environment["LISTEN_PID"] == "\(processId)"
        else { return nil }
        guard count == 1 else {
            throw Failure(
                Exit.configuration,
                "systemd passes \(count) sockets; name one ListenStream= in subledger.socket"
            )
        }
        var (address, isListening) = (sockaddr(), Int32(0))
        var sizes = (socklen_t(MemoryLayout<sockaddr>.size), socklen_t(MemoryLayout<Int32>.size))
        guard getsockname(firstSocket, &address, &sizes.0) == 0,
            [AF_INET, AF_INET6].contains(Int32(address.sa_family)),
            getsockopt(firstSocket, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &sizes.1) == 0,
            isListening != 0, fcntl(firstSocket, F_SETFD, FD_CLOEXEC) == 0
        else {
            throw Failure(
                Exit.configuration,
                "the socket that systemd passes does not listen for TCP; "
                    + "expected ListenStream=ADDRESS:PORT in subledger.socket, and Accept=no"
            )
        }
        return firstSocket
    }

    /// The descriptor of the first socket that systemd passes.
    private static let firstSocket: Int32 = 3

    /// Whether a file descriptor leads to the journal, which then reads `<6>` at the start of a line
    /// as its priority.
    static func isJournal(_ descriptor: Int32, _ environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"] else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Microseconds of the clock by which systemd orders a reload.
    static var monotonicMicroseconds: Int64 {
        var time = timespec()
        guard clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
