internal import Events
internal import Foundation

/// A file that is being written: compressed, counted, and hashed as it goes.
///
/// Unchecked, because one export writes one file at a time, on the thread of its session.
final class ExportFile: @unchecked Sendable {
    /// Its temporary path until it is moved into place.
    let path: String
    private let descriptor: Int32
    // The fastest level: the server produces rows more slowly than this compresses them, and
    // engines read any level.
    private let gzip = GzipWriter(level: 1)
    private var buffer: [UInt8] = []
    private var running = RunningDigest()
    /// Bytes written so far.
    private(set) var byteCount: Int64 = 0

    /// Bytes that are compressed at once.
    private static let bufferByteCount = 1 << 18

    /// Creates an empty file, replacing one that was left behind.
    init(_ path: String) throws(ExportError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ExportFolder.failure(path, "written") }
        buffer.reserveCapacity(ExportFile.bufferByteCount + (1 << 16))
    }

    deinit { close(descriptor) }

    /// SHA-256 of what was written.
    var digest: Digest { running.digest }

    /// Adds bytes to be compressed.
    func append(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= ExportFile.bufferByteCount { try pack(isLast: false) }
    }

    /// Adds bytes to be compressed.
    func append(_ bytes: [UInt8]) { buffer.append(contentsOf: bytes) }

    /// Ends the compressed stream.
    func endPacking() throws(ExportError) { try pack(isLast: true) }

    /// Writes bytes as they are.
    func writeAsIs(_ bytes: [UInt8]) throws(ExportError) {
        if let number = systemWrite(bytes, to: descriptor) {
            throw ExportFolder.failure(path, "written", number)
        }
    }

    /// Flushes a file that another program wrote to disk.
    static func flush(_ path: String) throws(ExportError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ExportFolder.failure(path, "opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ExportFolder.failure(path, "written") }
    }

    /// Flushes it to disk.
    func finish() throws(ExportError) {
        guard fsync(descriptor) == 0 else { throw ExportFolder.failure(path, "written") }
    }

    private func pack(isLast: Bool) throws(ExportError) {
        try gzip.pack(buffer, isLast: isLast) { (bytes) throws(ExportError) in try write(bytes) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
        running.update(bytes)
        byteCount += Int64(bytes.count)
        if let number = systemWrite(bytes, to: descriptor) {
            throw ExportFolder.failure(path, "written", number)
        }
    }

    /// The digest of a file; nil if it does not exist.
    static func digest(of path: String) throws(ExportError) -> Digest? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw ExportFolder.failure(path, "read") }
            return nil
        }
        defer { close(descriptor) }
        var running = RunningDigest()
        var piece = [UInt8](repeating: 0, count: bufferByteCount)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count == 0 { return running.digest }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ExportFolder.failure(path, "read") }
            piece.withUnsafeBytes {
                running.update(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }
    }
}
