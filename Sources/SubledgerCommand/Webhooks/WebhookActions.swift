import AppStore
import ArgumentParser
import CommandSupport
import Deliveries
import EventLog
import Events
import Subledger
import Synchronization

struct WebhookPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Send nothing to a webhook, or with --off continue where it stopped."
    )

    @OptionGroup var webhook: WebhookName

    @Flag(help: "Continue where it stopped.")
    var off = false

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let log = try await database.openLog()
        let isThere = try await log.pause(
            webhook: webhook.name,
            because: off ? nil : "by `subledger webhooks pause`"
        )
        if off { try await log.resolve(.webhookPaused, about: webhook.name) }
        await log.close()
        guard isThere else { throw webhook.unknown }
        Terminal.print(off ? "\(webhook.name) continues" : "paused \(webhook.name)")
    }
}

struct WebhookRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a webhook a new secret, and print it.",
        discussion: """
            The previous secret also signs for the time of --keep, so that the receiver can change \
            without refusing a message. After a leak, use --keep 0. A second rotation ends the \
            secret before the previous one at once.
            """
    )

    @OptionGroup var webhook: WebhookName

    @Option(
        help: ArgumentHelp(
            "Sign with the secret before for this long, too. Default: 24h.",
            valueName: "duration"
        )
    )
    var keep = "24h"

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard keep == "0" || Clock.duration(keep) != nil else {
            throw ValidationError("--keep must be a duration: 24h, 90m, 7d; or 0")
        }
    }

    func run() async throws {
        let log = try await database.openLog()
        let known = try await webhook.find(in: log)
        let scheme: WebhookSecret.Scheme =
            known.secrets.first?.hasPrefix("whsk_") ?? false
            ? .ed25519 : .hmac
        let secret = WebhookSecret.random(scheme)
        let isThere = try await log.rotate(
            webhook: webhook.name,
            to: secret.text,
            olderFor: Clock.duration(keep) ?? 0
        )
        await log.close()
        guard isThere else { throw webhook.unknown }
        try output.print(
            SecretDocument(name: webhook.name, secret: secret),
            [.line(secret.receiverKey)]
        )
    }
}

struct WebhookTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Send a webhook one message of type test now, and print what came back."
    )

    @OptionGroup var webhook: WebhookName
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let log = try await database.openLog()
        let known = try await webhook.find(in: log)
        let webhooks = Webhooks(
            Ledger(log: log, verifier: AppStoreVerifier(policy: VerificationPolicy()))
        ) { _ in }
        let failure: String?
        do {
            failure = try await webhooks.test(known)
        } catch let fault as WebhookFault {
            failure = fault.description
        }
        await log.close()
        if let failure {
            throw Failure(Exit.tryAgain, "\(known.url) did not accept it: \(failure)")
        }
        Terminal.print("\(known.url) accepted it")
    }
}

extension WebhooksCommand {
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send again what was given up, or everything after a place.",
            discussion: "They come under the same webhook-id as before."
        )

        @OptionGroup var webhook: WebhookName

        @Option(
            help: ArgumentHelp(
                "Send again everything after this cursor of `effects`, or from the `beginning`.",
                valueName: "cursor"
            )
        )
        var after: String?

        @Option(
            help: Clock.help("Send again everything that was committed at this instant or later."),
            transform: Clock.time
        )
        var since: AskedTime?

        @OptionGroup var zone: ZoneOption

        @OptionGroup var database: DatabaseOptions

        func validate() throws {
            guard after == nil || since == nil else {
                throw ValidationError("--after and --since exclude each other")
            }
            if let after, after != "beginning" {
                guard !after.isEmpty, CommitCursor(after) != nil else {
                    throw ValidationError(
                        "'\(after.prefix(80))' is not a cursor; expected the `cursor` of a document of "
                            + "`subledger effects --json`, or `beginning`"
                    )
                }
            }
        }

        func run() async throws {
            let log = try await database.openLog()
            let known = try await webhook.find(in: log)
            let words: String
            if after == nil, since == nil {
                let count = try await log.replayGivenUp(of: known)
                words = "\(counted(count, "message")) will be sent again"
            } else {
                let cursor = try await cursor(in: log)
                guard try await log.replay(webhook: known, after: cursor) else {
                    throw webhook.unknown
                }
                words =
                    "\(known.name) sends everything again "
                    + (cursor == .beginning ? "from the beginning" : "after \(cursor)")
            }
            await log.close()
            Terminal.print(words)
            if known.pausedAt != nil {
                Terminal.write(
                    "it is paused; `subledger webhooks pause \(known.name) --off` lets it continue"
                )
            }
        }

        private func cursor(in log: EventLog) async throws -> CommitCursor {
            let since = zone.instant(since, "--since", now: .systemClock(), isQuiet: false)
            if let since { return try await log.cursor(before: since) }
            let cursor = after.flatMap(CommitCursor.init) ?? .beginning
            _ = try await log.commits(after: cursor)
            return cursor
        }
    }
}

struct WebhookDeliverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Deliver to all webhooks, without a service, until stopped.",
        discussion:
            "`subledger serve` does the same. Of several processes, one delivers to a webhook."
    )

    @Flag(help: "End once everything in the log is delivered or given up, or a webhook is paused.")
    var once = false

    @Option(help: "The most messages that are sent to one webhook at the same time. Default: 64.")
    var concurrency = 64

    @OptionGroup var database: DatabaseOptions

    func validate() throws {
        guard (1...1000).contains(concurrency) else {
            throw ValidationError("--concurrency must be from 1 to 1000")
        }
    }

    func run() async throws {
        Allocator.boundFreeMemory()
        let log = try await database.openLog()
        let ledger = Ledger(log: log, verifier: AppStoreVerifier(policy: VerificationPolicy()))
        let sums = Sums()
        let webhooks = Webhooks(
            ledger,
            concurrency: concurrency,
            onProgress: { sums.add($1) },
            onNotice: { Terminal.write("subledger: \($0)") }
        )
        Interrupt.heed()
        let stop = StopFlag()
        let watching = Task {
            while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
            stop.set()
        }
        defer { watching.cancel() }
        if once {
            try await withThrowingDiscardingTaskGroup { group in
                for webhook in try await log.webhooks() where webhook.pausedAt == nil {
                    group.addTask { _ = try await webhooks.deliverAll(to: webhook, until: stop) }
                }
            }
        } else {
            await webhooks.run(until: stop)
        }
        await log.close()
        Terminal.print(sums.words)
        if once, stop.isSet { throw Exit.interrupted }
    }
}

/// What was sent, to all webhooks.
private final class Sums: Sendable {
    private let sum = Mutex<(delivered: Int64, failed: Int64)>((0, 0))

    func add(_ progress: Webhooks.Progress) {
        sum.withLock { sum in
            sum.delivered += progress.delivered
            sum.failed += progress.failed
        }
    }

    var words: String {
        let sum = sum.withLock { $0 }
        return "delivered \(counted(Int(sum.delivered), "message")); "
            + "\(counted(Int(sum.failed), "attempt")) failed"
    }
}
