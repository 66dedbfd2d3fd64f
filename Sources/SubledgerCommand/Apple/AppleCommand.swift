import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger
import SubledgerAppStore

struct AppleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract:
            "Change something at Apple: extend subscriptions, answer refunds, assign seats.",
        discussion: """
            Without --execute, a command only prints the request that it would send, and checks \
            what Apple knows now. With --execute, it sends the request once and does not repeat \
            it; only `consumption --auto` tries again. Only these commands change anything at \
            Apple, and `subledger serve --answer-consumption`.

            The key and the settings are those of `subledger poll`. No database is needed: the \
            changes arrive as notifications. Only `consumption --auto` and --list use one.
            """,
        subcommands: [
            ExtendCommand.self, ExtendAllCommand.self, ExtensionStatusCommand.self,
            ConsumptionCommand.self, GroupsCommand.self, MembersCommand.self, SeatsCommand.self,
            ClaimSeatCommand.self, UnclaimSeatCommand.self, AssociateSeatCommand.self,
            RevokeSeatsCommand.self,
        ]
    )
}

/// The options of every command that changes something at Apple.
struct AppleChangeOptions: ParsableArguments {
    @Flag(help: "Send the request. Without this flag, it is only printed.")
    var execute = false

    @OptionGroup var poll: PollOptions
}

/// The request that a command of `apple` sends.
struct AppleRequestDocument: Encodable {
    /// The HTTP method.
    let method: String
    /// The path below Apple's host.
    let path: String
    /// The JSON body; empty if the request has none.
    let body: String

    init(_ command: ServerCommand) {
        let call = command.call
        (method, path, body) = (call.method, call.path, call.body ?? "")
    }

    /// The request as text.
    var text: String { "\(method) \(path)" + (body.isEmpty ? "" : "\n\(body)") }
}

/// What a command of `apple` sent, or would send, and what Apple answered.
struct AppleChangeDocument: Encodable {
    let executed: Bool
    let request: AppleRequestDocument
    var result: RenewalExtensionResult?
    var requestIdentifier: String?
    var status: RenewalExtensionStatus?
    /// The claim of a seat; nil if a new one was not made.
    var seatClaimId: String?
    /// The seats before the request; nil if it was sent.
    var seats: SeatInfo?
}

/// The id by which Apple recognises a request that is sent again.
struct RequestIDOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An id for the request: letters, digits, -, ., _ and ~. Default: a new UUID.",
            valueName: "id"
        )
    )
    var requestId: String?

    /// The id; a new one if none was given.
    var id: String { requestId ?? UUID().uuidString.lowercased() }
}

extension AppleChangeOptions {
    /// Sends a request about a transaction; without --execute, checks that Apple knows it, and
    /// prints the request.
    func run(
        _ command: ServerCommand,
        about id: String,
        _ name: String,
        sent: String,
        _ send: (AppStoreServerClient, StoreEnvironment) async throws -> Void
    ) async throws {
        if try await poll.printsConfig() { return }
        try await poll.withClient { client, environment in
            if execute {
                try await send(client, environment)
            } else {
                _ = try await client.answer(to: .transaction(id), in: environment)
            }
        }
        let request = AppleRequestDocument(command)
        try print(
            AppleChangeDocument(executed: execute, request: request),
            name,
            sent: execute ? sent : nil,
            found: "Apple knows \(id)"
        )
    }

    /// Prints what was sent, or the request and that it was not.
    ///
    /// - Parameters:
    ///   - document: The request, and what Apple answered.
    ///   - name: The command, for messages.
    ///   - sent: The answer as text; nil if nothing was sent.
    ///   - found: What Apple said instead; nil if it was not asked.
    /// - Throws: An error of the JSON encoder.
    func print(
        _ document: AppleChangeDocument,
        _ name: String,
        sent: String?,
        found: String? = nil
    ) throws {
        try poll.output.print(document, [sent ?? document.request.text])
        guard sent == nil, !poll.output.json else { return }
        let nothing = found.map { "\($0). Nothing" } ?? "nothing"
        Terminal.write("apple \(name): \(nothing) was sent; add --execute to send the request")
    }
}

extension PollOptions {
    /// Prints the settings if `--print-config` is set.
    ///
    /// - Returns: Whether it is set; if so, the command is done.
    func printsConfig() async throws -> Bool {
        guard printConfig else { return false }
        let plan = try await PollPlan(self, ProcessEnvironment.variables)
        Terminal.print(plan.settings.table)
        return true
    }

    /// Runs a body with a client and the environment to ask: production, unless only Sandbox is
    /// named.
    func withClient<Value>(
        _ body: (AppStoreServerClient, StoreEnvironment) async throws -> Value
    ) async throws -> Value {
        let plan = try await PollPlan(self, ProcessEnvironment.variables)
        let credentials = try plan.apple.credentials(plan.trust.bundleId)
        let named = plan.trust.environments.compactMap(TrustOptions.knownEnvironment)
        let client = AppStoreServerClient(credentials, hosts: plan.apple.hosts)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(client, named == [.sandbox] ? .sandbox : .production))
        } catch {
            result = .failure(error)
        }
        try await client.close()
        return try result.get()
    }
}
