import AppStoreServerAPI
import ArgumentParser
import CommandSupport
import Events
import Foundation

struct AppleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract: "Change something at Apple: extend subscriptions, tell how one was used.",
        discussion: """
            Each command first only prints what it would send, and what Apple says now. With \
            --execute it sends it, once: a request that is not answered is not repeated. Nothing \
            else in this program changes anything at Apple.

            Key and settings are those of `subledger poll`. No command needs a database: what Apple \
            changes arrives as a notification.
            """,
        subcommands: [
            ExtendCommand.self, ExtendAllCommand.self, ExtensionStatusCommand.self,
            ConsumptionCommand.self,
        ]
    )
}

/// The options of every command that changes something at Apple.
struct AppleChangeOptions: ParsableArguments {
    @Flag(help: "Send it. Without this flag it is only printed.")
    var execute = false

    @OptionGroup var poll: PollOptions
}

/// What a command of `apple` would send.
struct AppleRequestDocument: Encodable {
    /// The method.
    let method: String
    /// The path below Apple's host.
    let path: String
    /// The JSON body.
    let body: String

    init(_ command: ServerCommand) {
        (method, path, body) = (command.method, command.path, command.body)
    }

    /// The request for people.
    var text: String { "\(method) \(path)\n\(body)" }
}

extension AppleChangeOptions {
    /// Runs a body with a client, which is closed after it.
    func withClient<Value>(
        _ body: (AppStoreServerClient, Events.Environment) async throws -> Value
    ) async throws -> Value {
        try await poll.withClient(body)
    }
}

extension PollOptions {
    /// Prints the settings where that was asked for.
    ///
    /// - Returns: Whether it was: then nothing else is to be done.
    func printsConfig() async throws -> Bool {
        guard printConfig else { return false }
        let plan = try await PollPlan(self, ProcessInfo.processInfo.environment)
        Terminal.print(plan.settings.table)
        return true
    }

    /// Runs a body with a client and the environment that is asked: production, unless Sandbox is
    /// named alone.
    func withClient<Value>(
        _ body: (AppStoreServerClient, Events.Environment) async throws -> Value
    ) async throws -> Value {
        let plan = try await PollPlan(self, ProcessInfo.processInfo.environment)
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
