import ArgumentParser
import CommandSupport
import Deliveries
public import EventLog
import Events
import Projections
import Subledger

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Send what changes for subscriptions to your own servers, signed.",
        discussion: """
            A webhook is a URL that receives a POST for each effect (`subledger effects`), signed as \
            Standard Webhooks 1.0 has it, so that its libraries check the signature. `subledger \
            serve` delivers; `webhooks deliver` does so without the service.

            Each effect comes at least once, under the same webhook-id, and in order for a \
            subscription. What is not answered with 2xx within 10 seconds comes again for three \
            days, and is then given up until `webhooks replay`. A receiver that does not \
            accept anything for three days is paused, and continues where it stopped.
            """,
        subcommands: [
            WebhookAddCommand.self, WebhookListCommand.self, WebhookPauseCommand.self,
            WebhookRotateCommand.self, WebhookTestCommand.self, Replay.self,
            WebhookDeliverCommand.self, WebhookRemoveCommand.self,
        ],
        defaultSubcommand: WebhookListCommand.self
    )
}

/// The name of a webhook on the command line.
struct WebhookName: ParsableArguments {
    @Argument(help: "The name of the webhook.")
    var name: String

    /// The webhook of that name.
    ///
    /// - Throws: `Failure` with exit 4 if there is none.
    func find(in log: EventLog) async throws -> Webhook {
        guard let webhook = try await log.webhooks().first(where: { $0.name == name }) else {
            throw unknown
        }
        return webhook
    }

    /// The failure for an unknown name.
    var unknown: Failure {
        Failure(Exit.notFound, "unknown webhook \(name); `subledger webhooks` lists all webhooks")
    }
}

struct WebhookAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a webhook, and print its secret."
    )

    @Argument(help: "Its name: letters, digits, - and .")
    var name: String

    @Argument(help: "The URL that receives the messages.")
    var url: String

    @Option(
        help: ArgumentHelp(
            "Send only this effect; repeat for more. Default: all effects.",
            discussion:
                "One of: \(EffectChange.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "effect"
        )
    )
    var effect: [String] = []

    @Option(
        help:
            "Send only effects of this environment, such as Production; repeat for more. Default: all."
    )
    var environment: [String] = []

    @Option(
        help: "Send only effects of the app with this bundle id; repeat for more. Default: all."
    )
    var bundleId: [String] = []

    @Flag(help: "Also send alerts (`subledger alerts`).")
    var alerts = false

    @Option(
        help: ArgumentHelp(
            "What the bodies look like: subledger or revenuecat. Default: subledger.",
            discussion:
                "revenuecat has the events of RevenueCat's webhooks, for receivers written for those."
        )
    )
    var format: Webhook.Format = .subledger

    @Option(
        help: ArgumentHelp(
            "How messages are signed: hmac or ed25519. Default: hmac.",
            discussion: "With ed25519, the receiver has only the public key."
        )
    )
    var sign: WebhookSecret.Scheme = .hmac

    @Option(
        help: ArgumentHelp(
            "Begin after this cursor of `effects`, or at `beginning` or `end`. Default: end.",
            valueName: "cursor"
        )
    )
    var after: String = "end"

    @Flag(help: "Permit private addresses and http, for tests and private networks.")
    var allowPrivate = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard AccessToken.isName(name) else {
            throw ValidationError(
                "'\(name)' cannot be the name of a webhook; expected 1 to "
                    + "\(AccessToken.nameByteCountMax) letters, digits, - and ."
            )
        }
        guard after == "end" || after == "beginning" || CommitCursor(after) != nil, !after.isEmpty
        else {
            throw ValidationError(
                "'\(after.prefix(80))' is not a cursor; expected the `cursor` of a document of "
                    + "`subledger effects --json`, `beginning` or `end`"
            )
        }
        for word in environment { _ = try TrustOptions.environment(word) }
        if let word = effect.first(where: { EffectChange.Kind(rawValue: $0) == nil }) {
            throw ValidationError(
                "unknown effect '\(word)'; expected one of "
                    + EffectChange.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        guard format == .subledger || !alerts else {
            throw ValidationError(
                "RevenueCat's format has no alerts; add a webhook of its own for --alerts"
            )
        }
    }

    func run() async throws {
        let address: ReceiverAddress
        do throws(WebhookFault) {
            address = try ReceiverAddress(url, allowsPrivate: allowPrivate)
            // Said now, and not only when the first message is sent.
            try address.checkLiteral()
        } catch {
            throw Failure(.validationFailure, error.description)
        }
        let secret = WebhookSecret.random(sign)
        let webhook = Webhook(
            name: name,
            url: address.url,
            format: format,
            effects: effect,
            environments: try environment.map { try TrustOptions.environment($0).word },
            bundleIds: bundleId,
            hearsAlerts: alerts,
            allowsPrivate: allowPrivate,
            secrets: [secret.text]
        )
        let log = try await database.openLog()
        let start: CommitCursor
        switch after {
        case "end": start = try await log.endOfCommits()
        case "beginning": start = .beginning
        default: start = CommitCursor(after) ?? .beginning
        }
        // A place that this log does not have is refused.
        _ = try await log.commits(after: start)
        let isNew = try await log.add(webhook, startingAt: start)
        await log.close()
        guard isNew else {
            throw Failure(
                .validationFailure,
                "there is a webhook \(name) already; `subledger webhooks remove \(name)` removes it"
            )
        }
        try output.print(SecretDocument(name: name, secret: secret), [.line(secret.receiverKey)])
        guard !output.json else { return }
        Terminal.write(
            sign == .hmac
                ? "added \(name); give this secret to the receiver, which checks signatures with it"
                : "added \(name); give this public key to the receiver, which checks signatures with it"
        )
    }
}

/// A webhook's secret as JSON: what the receiver needs to check signatures.
struct SecretDocument: Encodable {
    let name: String
    let scheme: String
    let key: String

    init(name: String, secret: WebhookSecret) {
        self.name = name
        (scheme, key) = (secret.scheme.rawValue, secret.receiverKey)
    }
}

struct WebhookListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the webhooks, what they have not received, and why."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        var documents: [WebhookDocument] = []
        for webhook in try await log.webhooks() {
            let state = try await log.deliveryState(of: webhook.name)
            let waiting = try await log.deliveries(of: webhook.name, isGivenUp: false, limit: 1)
            let givenUp = try await log.deliveries(of: webhook.name, isGivenUp: true, limit: 100)
            documents.append(WebhookDocument(webhook, state, waiting.first, givenUp))
        }
        await log.close()

        let rows = documents.map { webhook in
            [
                webhook.name, webhook.url, webhook.effects.joined(separator: " "),
                webhook.pausedAt == nil ? "active" : "paused: \(webhook.pauseReason ?? "")",
                "\(webhook.waiting)", "\(webhook.givenUp)", webhook.lastFailure ?? "",
            ]
        }
        let header = [
            "name", "URL", "effects", "state", "waiting", "given up", "last failure",
        ]
        try output.print(documents, rows.isEmpty ? [] : [.table(header, rows)])
        if rows.isEmpty, !output.json {
            Terminal.write("no webhooks exist yet; `subledger webhooks add NAME URL` adds one")
        }
    }
}

/// A webhook as JSON; without its secrets.
private struct WebhookDocument: Encodable {
    let name: String
    let url: String
    let format: Webhook.Format
    let effects: [String]
    let environments: [String]
    let bundleIds: [String]
    let alerts: Bool
    let createdAt: Instant
    let pausedAt: Instant?
    let pauseReason: String?
    let cursor: String?
    let movedAt: Instant?
    let waiting: Int64
    let givenUp: Int64
    let lastFailure: String?
    let givenUpMessages: [Message]

    /// A message that was given up.
    struct Message: Encodable {
        let id: String
        let environment: String?
        let originalTransactionId: String?
        let attempts: Int
        let failure: String
    }

    init(
        _ webhook: Webhook,
        _ state: EventLog.DeliveryState,
        _ waiting: PendingMessage?,
        _ givenUp: [PendingMessage]
    ) {
        (name, url, format) = (webhook.name, webhook.url, webhook.format)
        (effects, environments) = (webhook.effects, webhook.environments)
        (bundleIds, alerts) = (webhook.bundleIds, webhook.hearsAlerts)
        (createdAt, pausedAt) = (webhook.createdAt, webhook.pausedAt)
        pauseReason = webhook.pauseReason
        (cursor, movedAt) = (state.cursor?.description, state.movedAt)
        (self.waiting, self.givenUp) = (state.waiting, state.givenUp)
        lastFailure = (waiting ?? givenUp.last)?.failure
        givenUpMessages = givenUp.map {
            Message(
                id: $0.messageId,
                environment: $0.effect?.stream.environment.word,
                originalTransactionId: $0.effect?.stream.originalTransactionId,
                attempts: $0.attempts,
                failure: $0.failure
            )
        }
    }
}

struct WebhookRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a webhook, its place, and what it has not received."
    )

    @OptionGroup var webhook: WebhookName
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let log = try await database.openLog()
        let isThere = try await log.removeWebhook(named: webhook.name)
        try await log.resolve(.webhookPaused, about: webhook.name)
        await log.close()
        guard isThere else { throw webhook.unknown }
        Terminal.print("removed \(webhook.name)")
    }
}

extension Webhook.Format: ExpressibleByArgument {}
extension WebhookSecret.Scheme: ExpressibleByArgument {}
