package import ArgumentParser

/// The exit codes of the command line; a contract (Operating: exit codes).
package enum Exit {
    /// The exit code of `access` if there is no access.
    package static let no = ExitCode(1)
    package static let mismatch = ExitCode(3)
    package static let notFound = ExitCode(4)
    package static let badInput = ExitCode(65)
    package static let inputMissing = ExitCode(66)
    package static let unavailable = ExitCode(69)
    package static let internalError = ExitCode(70)
    /// The same call may succeed later.
    package static let tryAgain = ExitCode(75)
    package static let permission = ExitCode(77)
    package static let configuration = ExitCode(78)
    package static let interrupted = ExitCode(130)
}

/// An error of the command line itself, with its exit code.
package struct Failure: Error, CustomStringConvertible {
    package let exitCode: ExitCode
    package let message: String

    package var description: String { message }

    /// A failure with that code, and the sentence to print.
    package init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}
