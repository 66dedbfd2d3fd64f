import Foundation

/// A connection on which a test writes what no HTTP client would.
struct RawConnection {
    private let descriptor: Int32

    /// Connects to a port of this machine.
    init(port: Int) throws {
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = in_port_t(port).bigEndian
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &place) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    /// Writes text unchanged; false if the other side has closed the connection.
    @discardableResult
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) >= 0
    }

    /// The first line received; empty if the connection is closed without one.
    ///
    /// Waits on its own thread, because the task pool has few.
    func firstLine() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }

    private func readLine() -> String {
        var received: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\r") {
            received.append(byte)
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// Everything received until the other side closes the connection.
    func rest() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var received: [UInt8] = []
                var byte: UInt8 = 0
                while recv(descriptor, &byte, 1, 0) == 1 { received.append(byte) }
                continuation.resume(returning: String(decoding: received, as: UTF8.self))
            }
        }
    }

    /// Ends the writing, and continues to read.
    func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    func end() { close(descriptor) }
}
