import CommandSupport
import Foundation

/// Reads a private key from a file; no message ever contains a part of it.
enum PrivateKeyFile {
    /// The largest file that is read, in bytes: a key has about three hundred.
    private static let bytesMax = 64 << 10

    /// The text of a file that no other user may read.
    static func text(_ path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path, errno) }
        defer { close(file) }
        guard let status = FileStatus(of: file) else { throw unreadable(path, errno) }
        guard status.kind != .folder else { throw unreadable(path, EISDIR) }
        // The same rule as libpq's: an own file must not be accessible to others; one of root's may
        // be readable by its group.
        let allowed: UInt32 = status.owner == 0 && geteuid() != 0 ? 0o640 : 0o600
        guard status.permissions & ~(allowed | 0o100) == 0 else {
            throw Failure(
                Exit.configuration,
                "the key file \(path) can be read or changed by other users (mode "
                    + "\(String(status.permissions, radix: 8))); run chmod 600 \(path)"
            )
        }
        return try text(path, file)
    }

    private static func text(_ path: String, _ file: Int32) throws -> String {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var count = 0
        while count < bytesMax {
            let more = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), bytesMax - count)
            }
            guard more >= 0 else { throw unreadable(path, errno) }
            guard more > 0 else { break }
            count += more
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The file cannot be read, with the system's reason.
    static func unreadable(_ path: String, _ number: Int32) -> Failure {
        Failure(
            Exit.inputMissing,
            "cannot read the key file \(path): \(String(cString: strerror(number)))"
        )
    }
}
