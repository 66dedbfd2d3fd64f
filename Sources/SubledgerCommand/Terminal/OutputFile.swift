import ArgumentParser
import CommandSupport
import Foundation

/// A file that a command writes in addition to its answer.
struct OutputFile {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Throws if the file cannot be written, before any long work begins.
    ///
    /// Throws a `Failure` with the system's reason.
    func check() throws {
        if let status = FileStatus(path) {
            guard status.kind != .folder else { throw failure(EISDIR) }
            guard access(path, W_OK) == 0 else { throw failure(errno) }
            // A device is written directly; a file is written under a temporary name and moved into
            // place.
            guard status.kind == .file else { return }
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(errno) }
    }

    /// Writes a text atomically: on failure, the file is unchanged.
    ///
    /// Throws a `Failure` with the system's reason.
    func write(_ text: String) throws {
        try check()
        let isDevice = FileStatus(path).map { $0.kind != .file } ?? false
        let place = isDevice ? path : path + ".\(ProcessInfo.processInfo.processIdentifier).part"
        let descriptor = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(errno) }
        var problem = StandardStream.write(Array(text.utf8), to: descriptor)
        if close(descriptor) != 0, problem == nil { problem = errno }
        if !isDevice, problem == nil, rename(place, path) != 0 { problem = errno }
        guard let problem else { return }
        if !isDevice { unlink(place) }
        throw failure(problem)
    }

    private func failure(_ number: Int32) -> Failure {
        Failure(
            Exit.internalError,
            "\(path) cannot be written: \(String(cString: strerror(number))); use another path"
        )
    }
}
