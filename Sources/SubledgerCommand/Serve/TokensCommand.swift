import ArgumentParser
import CommandSupport
public import EventLog
import Events
import Subledger

struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Create, list and revoke the tokens that give access to the HTTP service.",
        discussion: """
            A client of `subledger serve` sends a token: `Authorization: Bearer TOKEN`. Each token \
            has one or more roles: `ingest` may upload transactions and receipts, `support` may \
            ask about customers and subscriptions, `analyst` may read the reports that name no \
            customer, `finance` all reports, `operator` may read the metrics and checkpoints, see \
            operations and promote tables in the console, and `admin` may do all of this. Apple's notifications need no token, because they are signed.

            A service reads the tokens again every 5 seconds: a new token is accepted immediately, \
            a revoked token is refused after that time at the latest. The time of the last use is \
            recorded to within a minute.
            """,
        subcommands: [Create.self, List.self, Revoke.self],
        defaultSubcommand: List.self
    )
}

extension TokensCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a token and print it once; the ledger stores only its digest."
        )

        @Argument(help: "The name of the token in logs: letters, digits, - and .")
        var name: String

        @Option(help: "A role of the token: \(TokenRole.words); repeat for more.")
        var role: [TokenRole]

        @Option(
            help: ArgumentHelp(
                "Refuse the token after this time. Default: never.",
                valueName: "duration"
            )
        )
        var expiresAfter: String?

        @Option(
            help: ArgumentHelp(
                "The most requests that one service answers in a minute. Default: any number.",
                valueName: "number"
            )
        )
        var requestsPerMinute: Int?

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard AccessToken.isName(name) else {
                throw ValidationError(
                    "'\(name)' cannot be the name of a token; expected 1 to "
                        + "\(AccessToken.nameByteCountMax) letters, digits, - and ."
                )
            }
            guard !role.isEmpty else {
                throw ValidationError("a token needs a --role: \(TokenRole.words)")
            }
            guard expiresAfter.map({ Clock.duration($0) != nil }) ?? true else {
                throw ValidationError("--expires-after must be a duration: 24h, 90m, 7d")
            }
            guard requestsPerMinute.map({ (1...1_000_000).contains($0) }) ?? true else {
                throw ValidationError("--requests-per-minute must be from 1 to 1000000")
            }
        }

        func run() async throws {
            let log = try await database.openLog()
            let token = AccessToken.random(named: name)
            let isNew = try await log.add(
                token,
                Set(role),
                lifetime: expiresAfter.flatMap(Clock.duration),
                requestsPerMinute: requestsPerMinute
            )
            await log.close()
            guard isNew else {
                throw Failure(
                    .validationFailure,
                    "the name \(name) is or was used by another token; names cannot be reused"
                )
            }
            try output.print(["name": name, "token": token.text], [token.text])
            if !output.json { Terminal.write("keep it safe: it cannot be shown again") }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tokens with their roles, and when each was used last."
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let log = try await database.openLog()
            let tokens = try await log.tokens()
            await log.close()

            let header = [
                "name", "roles", "created", "last used", "revoked", "expires", "per minute",
            ]
            let rows = tokens.map { token -> [String] in
                [
                    token.name, token.roles.words, "\(token.createdAt)",
                    token.lastUsedAt?.description ?? "never", token.revokedAt?.description ?? "",
                    token.expiresAt?.description ?? "",
                    token.requestsPerMinute?.description ?? "",
                ]
            }
            try output.print(
                tokens.map(TokenDocument.init),
                rows.isEmpty ? [] : [.table(header, rows)]
            )
            if rows.isEmpty, !output.json {
                Terminal.write(
                    "no tokens exist yet; `subledger tokens create NAME --role ROLE` creates one"
                )
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a token permanently: services refuse it within 5 seconds."
        )

        @Argument(help: "The name of the token.")
        var name: String

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            let log = try await database.openLog()
            let isThere = try await log.revokeToken(named: name)
            await log.close()
            guard isThere else {
                throw Failure(
                    Exit.notFound,
                    "unknown token \(name); `subledger tokens` lists all tokens"
                )
            }
            Terminal.print("revoked \(name)")
        }
    }
}

extension TokenRole: ExpressibleByArgument {
    fileprivate static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Set<TokenRole> {
    fileprivate var words: String { map(\.rawValue).sorted().joined(separator: ", ") }
}

/// A token as `tokens list --json` prints it.
private struct TokenDocument: Encodable {
    let name: String
    let roles: [TokenRole]
    let createdAt: Instant
    let lastUsedAt: Instant?
    let revokedAt: Instant?
    let expiresAt: Instant?
    let requestsPerMinute: Int?

    init(_ token: TokenRecord) {
        name = token.name
        roles = token.roles.sorted { $0.rawValue < $1.rawValue }
        createdAt = token.createdAt
        lastUsedAt = token.lastUsedAt
        revokedAt = token.revokedAt
        expiresAt = token.expiresAt
        requestsPerMinute = token.requestsPerMinute
    }
}
