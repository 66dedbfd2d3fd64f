import Foundation
import TestSupport
import Testing

/// A command as the parser describes it.
struct CommandHelp: Sendable {
    /// Its words, without the name of the program.
    let path: [String]
    /// What it does: abstract and discussion.
    let prose: [String]
    let arguments: [Argument]
    /// Whether it has no subcommands.
    let isLeaf: Bool

    var name: String { path.joined(separator: " ") }

    /// The options that help lists, as they are typed.
    var options: Set<String> {
        Set(arguments.filter(\.isDisplayed).flatMap { ($0.names ?? []).map(\.text) })
    }

    /// Every command with how `--help` ends; asked once, because the parser takes long.
    static let endings = Task {
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        var found: [(help: CommandHelp, ending: Program.Ending)] = []
        for help in try await all() {
            found.append((help, try await command.run(help.path + ["--help"])))
        }
        return found
    }

    /// An option, a flag or an argument.
    struct Argument: Decodable {
        let kind: String
        let names: [Name]?
        let valueName: String?
        let shouldDisplay: Bool?
        let abstract: String?
        let discussion: String?

        var isDisplayed: Bool { shouldDisplay ?? true }

        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }
    }

    private struct Dump: Decodable { let command: Node }

    private struct Node: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Node]?

        func all(_ path: [String]) -> [CommandHelp] {
            let subcommands = (subcommands ?? []).filter { $0.commandName != "help" }
            return [
                CommandHelp(
                    path: path,
                    prose: [abstract, discussion].compactMap { $0 },
                    arguments: arguments ?? [],
                    isLeaf: subcommands.isEmpty
                )
            ] + subcommands.flatMap { $0.all(path + [$0.commandName]) }
        }
    }

    /// The program and all its commands.
    static func all() async throws -> [CommandHelp] { try await dump.value }

    private static let dump = Task {
        let text = try await Command(environment: [:]).expect(0, "--experimental-dump-help")
        return try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command.all([])
    }

    /// The commands without subcommands.
    static func leaves() async throws -> [CommandHelp] {
        try await all().filter(\.isLeaf)
    }
}
