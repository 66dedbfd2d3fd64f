import ArgumentParser
import CommandSupport
import Events
import SubledgerAppStore

/// What the help of every command about groups and seats states.
enum SandboxOnly {
    static let help = """
        Apple offers groups and seats in the sandbox only: --environment Sandbox is required.
        """
}

extension PollOptions {
    /// Runs a body with a client of the sandbox.
    ///
    /// - Throws: `Failure` if the sandbox is not the only environment that is named.
    func withSandbox<Value>(
        _ body: (AppStoreServerClient, StoreEnvironment) async throws -> Value
    ) async throws -> Value {
        try await withClient { client, environment in
            guard environment == .sandbox else {
                throw Failure(
                    ExitCode.validationFailure,
                    "Apple offers groups and seats in the sandbox only: add --environment Sandbox. "
                        + "Nothing was sent"
                )
            }
            return try await body(client, environment)
        }
    }
}

struct GroupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups",
        abstract: "Print the groups of a customer.",
        discussion: "Changes nothing. " + SandboxOnly.help
            + " A group of customers is listed only while its purchaser shares its data."
    )

    @Argument(help: "Apple's id of the customer in the app: the app transaction id.")
    var appTransactionId: String

    @OptionGroup var poll: PollOptions

    func run() async throws {
        if try await poll.printsConfig() { return }
        let groups = try await poll.withSandbox { client, environment in
            try await client.customerGroups(of: appTransactionId, in: environment)
        }
        let lines = groups.map { group in
            let roles = group.roles.map { "\($0.role ?? "?") of \($0.productId ?? "?")" }
            return ([group.groupId, group.groupType] + roles).joined(separator: "  ")
        }
        try poll.output.print(["groups": groups], lines)
        if groups.isEmpty, !poll.output.json {
            Terminal.write("apple groups: \(appTransactionId) belongs to no group that Apple lists")
        }
    }
}

struct MembersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "members",
        abstract: "Print the app transaction ids of the members of a group.",
        discussion: "Changes nothing. " + SandboxOnly.help
    )

    @Argument(help: "The id of the group, as `groups` prints it.")
    var groupId: String

    @Option(help: "Members in each request, 1 to 1000. Default: Apple's choice.")
    var pageSize: Int?

    @OptionGroup var poll: PollOptions

    private struct Document: Encodable {
        let groupId: String
        let appTransactionIds: [String]
    }

    /// More than any page that Apple returns.
    private static let pageSizeMax = 1000

    func validate() throws {
        guard pageSize.map({ (1...Self.pageSizeMax).contains($0) }) ?? true else {
            throw ValidationError(
                "--page-size is \(pageSize ?? 0); expected 1 to \(Self.pageSizeMax)"
            )
        }
    }

    func run() async throws {
        if try await poll.printsConfig() { return }
        let members = try await poll.withSandbox { client, environment in
            try await client.groupMembers(of: groupId, limit: pageSize, in: environment)
        }
        try poll.output.print(Document(groupId: groupId, appTransactionIds: members), members)
    }
}
