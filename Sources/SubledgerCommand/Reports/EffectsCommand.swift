import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Subledger

struct EffectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "effects",
        abstract: "What changed for subscriptions, commit by commit, each with a cursor.",
        discussion: """
            An effect is what one commit changed in the answers about a subscription: access began \
            or ended, a renewal, a refund, a change of plan, a link, an erasure. Whatever channel \
            brought the facts, an effect is printed once. A fact that arrives late corrects what \
            earlier effects said: such an effect is marked, and in JSON has `before` and `after`, \
            or only `before` if something is withdrawn.

            The clock alone changes nothing in the log: access lasts until the latest time of \
            the grants that are open, and "access ended" follows when a later statement of Apple confirms it.

            To react exactly once, keep the cursor of the last effect that you handled, and pass it \
            to --after; or let the database keep it with --consumer, which acknowledges what was \
            written to stdout. After a crash, effects that were not acknowledged come again. One \
            process at a time reads under a name. If the log was restored from an older copy, or \
            forked, the cursor is refused with exit 3.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Resume after this cursor, or `end` for what happens from now on. Default: from the "
                + "beginning.",
            discussion: "For a consumer: where it begins if it is new.",
            valueName: "cursor"
        ),
        transform: Start.init
    )
    var after: Start = .cursor(.beginning)

    @Option(
        help: ArgumentHelp(
            "Continue where the consumer of this name stopped, and keep its place.",
            valueName: "name"
        )
    )
    var consumer: String?

    @Flag(help: "Wait for new effects at the end, until SIGINT or SIGTERM.")
    var follow = false

    @Option(help: "Stop after this many effects.")
    var limit: Int?

    @Flag(help: "Print each effect as a JSON document on a line.")
    var json = false

    @Option(help: LineFormat.help)
    var format: LineFormat?

    @OptionGroup var database: DatabaseOptions

    /// Where to begin.
    enum Start {
        case cursor(CommitCursor)
        case end

        init(_ text: String) throws {
            if text == "end" {
                self = .end
            } else if let cursor = CommitCursor(text) {
                self = .cursor(cursor)
            } else {
                throw ValidationError(
                    "'\(text.prefix(80))' is not a cursor; expected the `cursor` of a document of "
                        + "`subledger effects --json` (lane:commit:digest, joined by commas), "
                        + "`end`, or nothing for the beginning"
                )
            }
        }
    }

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError("--limit must be at least 1, not \(limit)")
        }
        guard format == nil || !json else {
            throw ValidationError("--format and --json cannot be combined")
        }
        try consumer.map(Consumer.check)
    }

    func run() async throws {
        let end = try await read()
        // With `--follow` this is the usual end; otherwise the rest is missing.
        if end == .stopped, !follow { throw Exit.interrupted }
    }

    private func read() async throws -> LineOutput.End? {
        var options = EventLog.Options()
        options.readersMax = 1
        let log = try await database.openLog(options)
        let verifier = AppStoreVerifier(policy: VerificationPolicy())
        let end = try await read(Ledger(log: log, verifier: verifier))
        await log.close()
        return end
    }

    // A wait for commits ends on a signal, or if the reader is gone.
    private func read(_ ledger: Ledger) async throws -> LineOutput.End? {
        let effects = try await effects(of: ledger)
        Interrupt.heed()
        let (limit, follow) = (limit ?? .max, follow)
        let (json, source) = (json, format.map { _ in CloudEvent.source(of: ledger.log) })
        let reading = Task {
            try await EffectPump(effects, json: json, source: source, isPatient: follow)
                .run(limit: limit)
        }
        let watching = Task {
            while !Interrupt.isRequested, !LineOutput.isReaderGone {
                try await Task.sleep(for: .milliseconds(100))
            }
            reading.cancel()
        }
        defer { watching.cancel() }
        do {
            try await reading.value
        } catch let end as LineOutput.End {
            return end
        } catch {
            guard reading.isCancelled else { throw error }
            return Interrupt.isRequested ? .stopped : .readerGone
        }
        return Interrupt.isRequested ? .stopped : nil
    }

    private func effects(of ledger: Ledger) async throws -> SubscriptionEffects {
        let start: CommitCursor
        switch after {
        case .cursor(let cursor): start = cursor
        case .end: start = try await ledger.endOfEffects()
        }
        let onLoss: @Sendable (EventLogError) -> Void = {
            EffectPump.report($0)
        }
        guard let consumer else {
            return ledger.effects(after: start, isFollowing: follow, onLoss: onLoss)
        }
        return ledger.effects(
            of: consumer,
            startingAt: start,
            isFollowing: follow,
            onLoss: onLoss
        )
    }
}

/// Writes effects to stdout, and acknowledges those that were written.
private struct EffectPump {
    private let effects: SubscriptionEffects
    private let json: Bool
    /// Of CloudEvents; nil for another format.
    private let source: String?
    // Whether it waits for a database that is unavailable.
    private let isPatient: Bool

    init(_ effects: SubscriptionEffects, json: Bool, source: String?, isPatient: Bool) {
        (self.effects, self.json, self.source) = (effects, json, source)
        self.isPatient = isPatient
    }

    static func report(_ error: EventLogError) {
        Terminal.write("subledger: \(error); retrying")
    }

    /// Effects after which they are acknowledged, so that few come again after a crash.
    private static let acknowledgedMax = 20

    func run(limit: Int) async throws {
        var (output, left) = (LineOutput(), limit)
        var iterator = effects.makeAsyncIterator()
        while left > 0, let effect = try await iterator.next() {
            left -= 1
            let line = Array(try text(effect).utf8)
            try output.add { $0 += line }
            let isDue = left == 0 || (limit - left).isMultiple(of: EffectPump.acknowledgedMax)
            guard isDue || iterator.isAboutToRead else { continue }
            try output.flush()
            try await acknowledge(effect)
        }
    }

    private func acknowledge(_ effect: SubscriptionEffect) async throws {
        while true {
            do {
                return try await effects.acknowledge(effect)
            } catch {
                guard isPatient, error.isRetryable, error.code != .consumerInUse else {
                    throw error
                }
                EffectPump.report(error)
                try await Task.sleep(for: SubscriptionEffects.Iterator.waitMax)
            }
        }
    }

    private func text(_ effect: SubscriptionEffect) throws -> String {
        if let source { return try Terminal.text(json: CloudEvent(effect, source)) + "\n" }
        guard json else { return effect.line.harmless + "\n" }
        return try Terminal.text(json: EffectDocument(effect)) + "\n"
    }
}
