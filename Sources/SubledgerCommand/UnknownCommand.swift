import ArgumentParser
import CommandSupport

/// A default subcommand whose first argument is a word; it reports unknown words itself.
protocol TakingWord: ParsableCommand {}

/// A word in the place of a command that is not one.
struct UnknownCommand {
    /// The commands before it, starting with the program.
    let path: [String]
    let word: String
    /// The commands that are valid there.
    let known: [String]

    /// The first among these arguments; nil if they begin with valid commands.
    static func first(
        in arguments: some Sequence<String>,
        of root: any ParsableCommand.Type
    ) -> UnknownCommand? {
        var command = root
        var path = [root._commandName]
        for word in arguments {
            let subcommands = command.configuration.subcommands
            // Most default subcommands accept no word, so a word is not valid here either.
            if subcommands.isEmpty || word.hasPrefix("-") { return nil }
            if word == "help", path.count == 1 { continue }
            guard let next = subcommands.first(where: { $0._commandName == word }) else {
                if command.configuration.defaultSubcommand is any TakingWord.Type { return nil }
                let known = subcommands.map { $0._commandName }
                return UnknownCommand(path: path, word: word, known: known)
            }
            command = next
            path.append(word)
        }
        return nil
    }

    /// The largest edit distance at which a command is suggested for the word.
    private static let distanceMax = 2

    /// The command that was most likely meant; nil if none is close.
    var suggestion: String? {
        let begun = known.filter { !word.isEmpty && $0.hasPrefix(word) }
        if begun.count == 1 { return begun[0] }
        let near = known.map { (name: $0, distance: UnknownCommand.distance($0, word)) }
            .min { $0.distance < $1.distance }
        return near.flatMap { $0.distance <= UnknownCommand.distanceMax ? $0.name : nil }
    }

    /// The error to report.
    var failure: Failure {
        let program = path.joined(separator: " ")
        return Failure(
            .validationFailure,
            "unknown command `\(program) \(word)`; "
                + (suggestion.map { "did you mean `\(program) \($0)`? " } ?? "")
                + "`\(program) --help` lists all commands"
        )
    }

    // The number of letters to insert, delete, replace, or swap with their neighbour.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(
                    last[column + 1] + 1,
                    next[column] + 1,
                    last[column] + (character == other ? 0 : 1)
                )
                if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                next.append(least)
            }
            (beforeLast, last) = (last, next)
        }
        return last[right.count]
    }
}
