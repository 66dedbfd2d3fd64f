import CSpawn
import Foundation

/// A program that runs to its end, with its arguments passed unchanged, never through a shell.
package struct ChildProcess {
    /// How a program ended.
    package struct Ending {
        /// The exit code, or 128 plus the signal.
        package let code: Int32
        /// The beginning of what it printed.
        package let output: String

        /// Whether it exited with 0.
        package var succeeded: Bool { code == 0 }
    }

    /// Output beyond this length is cut: it is meant for one error message.
    private static let outputBytesMax = 16 * 1024

    let command: [String]
    var input: Int32?

    /// A program, by its path, with its arguments.
    package init(command: [String], input: Int32? = nil) {
        self.command = command
        self.input = input
    }

    /// The path of the program of that name in PATH; nil if there is none.
    package static func path(of program: String) -> String? {
        ServerBinaries.executable(program, in: ServerBinaries.searchPath())
    }

    /// The two ends of a new pipe, which no program inherits.
    static func pipe() throws(EmbeddedServerError) -> (output: Int32, input: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else {
            throw EmbeddedServerError(.fileSystem, "No pipe could be opened.")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Runs the program and returns what it printed on both streams.
    package func run() throws(EmbeddedServerError) -> Ending {
        let output = try TemporaryOutput()
        defer { output.close() }
        let child = try spawn(output: output.descriptor)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw failed("could not be waited for", errno) }
        }
        let signal = status & 0x7F
        let code = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        return Ending(code: code, output: output.text(max: Self.outputBytesMax))
    }

    /// Starts the program in a session of its own, so that it outlives this process.
    ///
    /// It inherits only its input and output descriptors, not the directory or any PG* variable.
    @discardableResult
    func spawn(output: Int32?) throws(EmbeddedServerError) -> pid_t {
        #if os(Linux)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }

        redirect(input, to: STDIN_FILENO, O_RDONLY, &actions)
        redirect(output, to: STDOUT_FILENO, O_WRONLY, &actions)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        // The server's user may not have access to the caller's folder.
        posix_spawn_file_actions_addchdir_np(&actions, "/")

        var flags = Int32(POSIX_SPAWN_SETSID) | Int32(POSIX_SPAWN_SETSIGMASK)
        #if os(Linux)
        // An inherited pipe or lock would live as long as the server.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        #else
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)

        var child: pid_t = 0
        let result = withMutableCStrings(command) { arguments in
            withMutableCStrings(Self.environment) { environment in
                posix_spawn(&child, command[0], &actions, &attributes, arguments, environment)
            }
        }
        guard result == 0 else { throw failed("could not be started", result) }
        return child
    }

    #if os(Linux)
    private typealias FileActions = posix_spawn_file_actions_t
    #else
    private typealias FileActions = posix_spawn_file_actions_t?
    #endif

    private func redirect(
        _ descriptor: Int32?,
        to standard: Int32,
        _ mode: Int32,
        _ actions: inout FileActions
    ) {
        if let descriptor {
            posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
        } else {
            posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", mode, 0)
        }
    }

    /// Only what the server's programs need: PG* and the locale would change their behaviour.
    private static var environment: [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin:/usr/sbin:/sbin"
        return ["PATH=\(path)", "LC_ALL=C", "TZ=UTC"]
    }

    private func failed(_ what: String, _ code: Int32) -> EmbeddedServerError {
        let reason = String(cString: strerror(code))
        return EmbeddedServerError(.programFailed, "\(command[0]) \(what): \(reason).")
    }
}

/// An unnamed file for a program's output.
///
/// A pipe would not work: the server inherits it, and reading would wait until the server ends.
private struct TemporaryOutput {
    let descriptor: Int32

    init() throws(EmbeddedServerError) {
        var template = Array("/tmp/subledger-output-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw EmbeddedServerError(.fileSystem, "No temporary file could be made in /tmp.")
        }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    func text(max: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: max)
        let count = pread(descriptor, &bytes, max, 0)
        return String(decoding: bytes.prefix(Swift.max(count, 0)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func close() { _ = Foundation.close(descriptor) }
}

/// Passes C copies of strings in the form that `exec` expects, terminated by a null pointer.
private func withMutableCStrings<R>(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    var copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    copies.append(nil)
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else {
            preconditionFailure("An array of pointers that ends in a null pointer is empty.")
        }
        return body(base)
    }
}
