import ArgumentParser
import CommandSupport

/// One run of the command line: in its own process, or within the process of a test.
package enum CommandRun {
    /// Parses the arguments, runs the command, and reports an error on stderr.
    ///
    /// - Parameter arguments: The words after the name of the program.
    /// - Returns: The exit code.
    package static func exitCode(_ arguments: [String]) async -> Int32 {
        let program = SubledgerCommand.self
        do {
            var command = try program.parseAsRoot(arguments)
            if type(of: command) is any LongAnswer.Type { Pager.begin() }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return ExitCode.success.rawValue
        } catch {
            let unknown = UnknownCommand.first(in: arguments, of: program)
            return Failure.report(unknown?.failure ?? error, of: program).rawValue
        }
    }

    /// Parses and validates the arguments, and runs nothing.
    ///
    /// - Parameter arguments: The words after the name of the program.
    /// - Returns: The error message; nil if the command would run.
    package static func refusal(of arguments: [String]) -> String? {
        do {
            _ = try SubledgerCommand.parseAsRoot(arguments)
            return nil
        } catch {
            return SubledgerCommand.message(for: error)
        }
    }
}
