import ArgumentParser
import CommandSupport
import Dispatch
import EventLog
import Foundation
import Subledger
import SubledgerHTTP

struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Answer an agent's questions, by the Model Context Protocol.",
        discussion: """
            A client of the protocol starts this program, sends messages to its stdin and reads \
            answers from its stdout, one on each line. Nothing it asks changes the ledger. Every \
            question, `search` and, on the tables of `subledger rebuild`, every report is a tool. \
            `subledger serve` answers the same over HTTP at /mcp, for tokens with the role support, \
            analyst or finance.

            Without --personal-data, ids of customers and accounts are replaced in answers: \
            personal-id-1 is the same in the whole conversation, and the agent can ask with it. \
            No tool returns payloads. The database login decides what can be read at all: one with \
            the role ledger_reader is enough.

            An example of a client's configuration:

            {"mcpServers": {"subledger": {"command": "subledger", "args": ["mcp"],
              "env": {"DATABASE_URL": "postgresql://agent@db.example/ledger"}}}}
            """
    )

    @Option(
        help: ArgumentHelp(
            "Offer the tools of this role; repeat for more. Default: support and analyst.",
            discussion: """
                support: search and questions about customers; analyst: reports that name no \
                customer; finance: all reports; admin: everything.
                """,
            valueName: "role"
        ),
        transform: MCPCommand.role
    )
    var role: [TokenRole] = []

    @Flag(help: "Show ids of customers and accounts.")
    var personalData = false

    @OptionGroup var database: DatabaseOptions

    private static func role(_ word: String) throws -> TokenRole {
        let known = AgentAccess.roles + [.admin]
        guard let role = known.first(where: { $0.rawValue == word }) else {
            let words = known.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("invalid --role '\(word)'; expected \(words)")
        }
        return role
    }

    func run() async throws {
        let ledger = try await database.openLedger()
        let access = AgentAccess(
            local: ledger,
            roles: role.isEmpty ? [.support, .analyst] : Set(role),
            hasPersonalData: personalData,
            logFailure: { Terminal.write("subledger: \($0)") }
        )
        let conversation = AgentConversation(access) { Terminal.put(bytes: $0 + [0x0A]) }
        await MCPCommand.forEachLine { await conversation.take($0) }
        await conversation.finish()
        await ledger.close()
    }

    // Nil for a line that is too long. Lines are read no faster than they are taken.
    private static func forEachLine(_ take: ([UInt8]?) async -> Void) async {
        var (line, isTooLong, isAtEnd) = ([UInt8](), false, false)
        while !isAtEnd {
            let piece = await read()
            isAtEnd = piece.isEmpty
            let parts = piece.split(separator: 0x0A, omittingEmptySubsequences: false)
            for (number, part) in parts.enumerated() {
                if number > 0 {
                    await take(isTooLong ? nil : line)
                    (line, isTooLong) = ([], false)
                }
                line += part
                if line.count > AgentConversation.lineByteCountMax {
                    (line, isTooLong) = ([], true)
                }
            }
        }
        await take(isTooLong ? nil : line)
    }

    private static let queue = DispatchQueue(label: "stdin")

    // On a thread of its own, because stdin may have nothing for hours; empty at the end.
    private static func read() async -> [UInt8] {
        await withCheckedContinuation { continuation in
            queue.async {
                var (piece, count) = ([UInt8](repeating: 0, count: 1 << 16), 0)
                repeat {
                    count = Foundation.read(0, &piece, piece.count)
                } while count < 0 && errno == EINTR
                continuation.resume(returning: Array(piece.prefix(max(0, count))))
            }
        }
    }
}
