/// Why the embedded server could not be started, stopped or inspected.
///
/// Callers switch on ``code``; equality compares it alone. `description` is safe to log;
/// `debugDescription` adds what the server's programs printed.
public struct EmbeddedServerError: Error, Sendable, Equatable {
    /// What kind of failure this is.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// There is no server in this home, and none was to be created.
        case absent
        /// No PostgreSQL server is installed.
        case notInstalled
        /// The data belongs to a version of PostgreSQL that is not installed.
        case wrongVersion
        /// The process runs as root and no unprivileged user or way to become one exists.
        case noUnprivilegedUser
        /// A folder or file cannot be created, read or given the required owner.
        case fileSystem
        /// A folder belongs to another user, who could read or replace the data.
        case notOurs
        /// Another process starts or stops the same server and did not finish in time.
        case busy
        /// One of the server's programs could not be run, or failed.
        case programFailed
        /// The server did not become ready; its log says why.
        case didNotStart
        /// The server did not stop in time.
        case didNotStop
    }

    /// What happened, for callers to switch on.
    public let code: Code

    /// What happened, to what, what was expected and what to do next.
    public let message: String

    /// What a program printed, or the end of the server's log.
    public let output: String?

    init(_ code: Code, _ message: String, output: String? = nil) {
        self.code = code
        self.message = message
        self.output = output
    }

    /// Compares only the codes.
    public static func == (left: EmbeddedServerError, right: EmbeddedServerError) -> Bool {
        left.code == right.code
    }
}

extension EmbeddedServerError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The failure in one line that is safe to log.
    public var description: String { message }

    /// The failure with what the programs printed.
    public var debugDescription: String {
        guard let output, !output.isEmpty else { return message }
        return "\(message)\n\(output)"
    }
}
