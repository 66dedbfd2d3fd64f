import ArgumentParser
import CommandSupport
import Subledger

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
            let zone = (command as? any ZonedCommand)?.zone.tz ?? .utc
            try await QuestionZone.$shown.withValue(zone) {
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
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
        // Parsed by the innermost command, because the whole tree takes long to build.
        var command: any ParsableCommand.Type = SubledgerCommand.self
        var rest = arguments[...]
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { $0._commandName == word })
        {
            command = next
            rest.removeFirst()
        }
        do {
            _ = try command.parse(Array(rest))
            return nil
        } catch {
            return command.message(for: error)
        }
    }
}
