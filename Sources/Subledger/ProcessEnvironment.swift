internal import Foundation

/// The environment variables that configure a ledger.
package enum ProcessEnvironment {
    /// The variables of this process, unless the current task was given others: tests run many
    /// commands in one process, each with its own database.
    @TaskLocal package static var variables: [String: String] =
        ProcessInfo.processInfo.environment
}
