import ArgumentParser
import CommandSupport
import EventLog
import Subledger
import Events

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: "The events of the log as NDJSON, each with a cursor to resume after.",
        discussion: """
            One line per event: Apple's properties under Apple's names, instants in milliseconds, \
            and a cursor. Keep the cursor of the last complete line you stored, and pass it to \
            --after: the feed resumes with the next event, without repeating or losing one, no \
            matter how it ended. Within a lane, events are in the order of the log; lanes take \
            turns.

            A cursor contains the digest of its commit. If the log was restored from an older \
            copy, or forked, the cursor is refused with exit 3: the same offsets may now be other \
            events.

            A line of kind "confirmation" is not an event: Apple stated the `fields` of the event at \
            `confirms` again, as of another instant or under another transaction id. Of statements \
            about one purchase, the latest as-of prevails, so that a reader needs these lines to get \
            the same answers. They stand after the events of their commit and do not move the cursor: \
            a reader that resumes may get the last ones again.
            """
    )

    @Option(
        help: ArgumentHelp(
            "Resume after this cursor. Default: from the beginning.",
            discussion: """
                `cursor` of the last line that was stored. For a consumer: where it begins if it is \
                new.
                """,
            valueName: "cursor"
        ),
        transform: FeedCommand.cursor
    )
    var after: FeedCursor = .beginning

    @Option(
        help: ArgumentHelp(
            "Continue where the consumer of this name stopped, and keep its place.",
            discussion: """
                What was written to stdout is acknowledged; after a crash, the rest comes again. \
                One process at a time reads under a name.
                """,
            valueName: "name"
        )
    )
    var consumer: String?

    @Option(help: LineFormat.help)
    var format: LineFormat?

    @Flag(help: "Wait for new events at the end, until SIGINT or SIGTERM.")
    var follow = false

    @Option(
        help: ArgumentHelp("Polling interval of --follow, in seconds.", valueName: "seconds")
    )
    var pollInterval: Double?

    @Option(help: "Stop after this many events; confirmations are not counted.")
    var limit: Int?

    @OptionGroup var database: DatabaseOptions

    /// The polling interval for the end of the log, in seconds.
    static let pollIntervalDefault = 1.0

    /// A shorter interval would query the server without pause; a longer one is a job for cron.
    static let pollIntervals = 0.05...3600

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError("--limit must be at least 1, not \(limit)")
        }
        try consumer.map(Consumer.check)
        guard let pollInterval else { return }
        guard follow else { throw ValidationError("--poll-interval is for --follow") }
        guard FeedCommand.pollIntervals.contains(pollInterval) else {
            throw ValidationError("--poll-interval must be from 0.05 to 3600, not \(pollInterval)")
        }
    }

    // Swift 6.3 cannot optimise one long asynchronous function here: its LLVM crashes.
    func run() async throws {
        let end = try await feed()
        // With `--follow` this is the usual end; otherwise the rest of the log is missing.
        if end == .stopped, !follow { throw Exit.interrupted }
    }

    private func feed() async throws -> LineOutput.End? {
        var options = EventLog.Options()
        options.readersMax = 1
        let log = try await database.openLog(options)
        let end = try await pump(log)
        await log.close()
        return end
    }

    private func pump(_ log: EventLog) async throws -> LineOutput.End? {
        var pump = FeedPump(
            log,
            after: after,
            consumer: consumer.map { Consumer($0, of: .events) },
            source: format.map { _ in CloudEvent.source(of: log) },
            eventsMax: limit ?? .max
        )
        Interrupt.heed()
        return try await pump.run(
            following: follow ? pollInterval ?? FeedCommand.pollIntervalDefault : nil
        )
    }

    private static func cursor(_ text: String) throws -> FeedCursor {
        guard let cursor = FeedCursor(text) else {
            throw ValidationError(
                "'\(text.prefix(80))' is not a cursor; expected the `cursor` of a line of "
                    + "`subledger feed` (lane:offset:digest, joined by commas), or nothing for "
                    + "the beginning"
            )
        }
        return cursor
    }
}
