import AppStoreServerAPI
import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger

struct AppleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract:
            "Change something at Apple: extend subscriptions, answer refunds, assign seats.",
        discussion: """
            Without --execute, a command only prints the request that it would send, and checks \
            what Apple knows now. With --execute, it sends the request once: a request that Apple \
            does not answer is not repeated. Only these commands change anything at Apple.

            The key and the settings are those of `subledger poll`. No database is needed: the \
            changes arrive as notifications.
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

extension AppleChangeOptions {
    /// Runs a body with a client, which is closed afterwards.
    func withClient<Value>(
        _ body: (AppStoreServerClient, Events.Environment) async throws -> Value
    ) async throws -> Value {
        try await poll.withClient(body)
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
        _ body: (AppStoreServerClient, Events.Environment) async throws -> Value
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
