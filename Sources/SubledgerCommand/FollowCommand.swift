import ArgumentParser
import EventLog
import Events
import Foundation
import Projections
import Projector
import Subledger

struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Keep the tables of projections up to date with the log.",
        discussion: """
            Brings every commit into the tables until SIGINT or SIGTERM; after each step they are \
            those of a rebuild, byte for byte. Any number of processes may follow: each lane is \
            one process's at a time, and is taken over when that one is gone. Rows and the place \
            up to which they go are written by one transaction, so nothing enters twice.

            --wait-for follows nothing: it waits until the live tables hold what you have \
            written, and ends with 75 where that takes longer than --timeout.
            """
    )

    @Flag(help: "End when all that is in the log now is in the tables.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "Only wait until the live tables hold these events: an offset, or lane:offset pairs.",
            valueName: "position"
        ),
        transform: Clock.knownAt
    )
    var waitFor: KnownAt?

    @Option(help: "With --wait-for, for how many seconds. Default: 30.")
    var timeout: Double?

    @Option(help: ArgumentHelp("Look for new commits so often.", valueName: "seconds"))
    var pollInterval: Double?

    @Option(
        help: ArgumentHelp(
            "Leave a lane so long to a process that does not answer. Default: 15.",
            valueName: "seconds"
        )
    )
    var lease: Double?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// Seconds from looking to looking: a step takes some milliseconds.
    private static let pollIntervalDefault = 0.5

    /// More often asks the server without a rest, less often is a job for cron.
    private static let pollIntervals = 0.05...3600

    /// Shorter than a step may take, and two processes do the same work; longer than an hour, and
    /// nobody takes over.
    private static let leases = 1.0...3600

    func validate() throws {
        if let pollInterval, !FollowCommand.pollIntervals.contains(pollInterval) {
            throw ValidationError("--poll-interval must be from 0.05 to 3600, not \(pollInterval)")
        }
        if let lease, !FollowCommand.leases.contains(lease) {
            throw ValidationError("--lease must be from 1 to 3600, not \(lease)")
        }
        guard waitFor != nil else {
            guard timeout == nil else { throw ValidationError("--timeout is for --wait-for") }
            return
        }
        guard !once, lease == nil else {
            throw ValidationError("--wait-for follows nothing: leave --once and --lease out")
        }
        if let timeout, timeout < 0 {
            throw ValidationError("--timeout must be at least 0, not \(timeout)")
        }
    }

    func run() async throws {
        let settings = try await database.settings()
        var logOptions = EventLog.Options()
        logOptions.readersMax = 1
        let log = try await EventLog.open(settings, logOptions)
        let projector = Projector(log: log, settings: settings) {
            FoldContext(catalogues: try await CatalogueStore(log: log).history())
        }
        Interrupt.heed()
        let end: ExitCode
        if let waitFor {
            end = try await wait(for: waitFor, projector, log)
        } else {
            end = try await follow(projector)
        }
        await log.close()
        guard end == .success else { throw end }
    }

    private func follow(_ projector: Projector) async throws -> ExitCode {
        let holder =
            "\(ProcessInfo.processInfo.hostName) \(ProcessInfo.processInfo.processIdentifier) "
            + UUID().uuidString
        var options = Projector.FollowOptions(holder: holder)
        options.isOnce = once
        options.pollInterval = .seconds(pollInterval ?? FollowCommand.pollIntervalDefault)
        if let lease { options.leaseSeconds = lease }
        options.isStopped = { Interrupt.isRequested }
        let progress = FollowProgress(isQuiet: output.quiet)
        options.progress = { progress.report($0) }
        options.notice = { Terminal.write("follow: \($0)") }
        let done = try await projector.follow(options)
        progress.finish()
        try print(done, positions: try await projector.livePositions())
        return done.refused > 0 ? Exit.mismatch : .success
    }

    private func print(_ done: Projector.Following, positions: [Int: Int64]) throws {
        if output.json {
            try Terminal.print(
                json: Document(
                    events: done.events,
                    streams: done.streams,
                    steps: done.steps,
                    refused: done.refused,
                    lag: done.lag,
                    positions: Dictionary(
                        uniqueKeysWithValues: positions.map { ("\($0.key)", $0.value) }
                    )
                )
            )
            return
        }
        let place = KnownAt.offsets(positions).description
        Terminal.print(
            "\(done.events) events of \(done.streams) streams in \(done.steps) steps; the live "
                + "tables hold the log up to \(place.isEmpty ? "its beginning" : place), lag \(done.lag)"
        )
        if done.refused > 0 {
            Terminal.write(
                "follow: \(done.refused) streams were refused; `SELECT * FROM "
                    + "projection.refused_stream` says which and why"
            )
        }
    }

    private struct Document: Encodable {
        let events: Int64
        let streams: Int
        let steps: Int
        let refused: Int
        let lag: Int64
        let positions: [String: Int64]
    }

    private func wait(
        for position: KnownAt,
        _ projector: Projector,
        _ log: EventLog
    ) async throws -> ExitCode {
        guard case .offsets(let offsets) = position else {
            throw Failure(
                .validationFailure,
                "--wait-for takes a position, as `ingest` and `feed` print it, not an instant"
            )
        }
        let heads = try await log.heads()
        for (lane, offset) in offsets where offset > heads[lane]?.offset ?? 0 {
            throw Failure(
                .validationFailure,
                "offset \(offset) is not known: lane \(lane) ends at \(heads[lane]?.offset ?? 0)"
            )
        }
        let seconds = timeout ?? FollowCommand.timeoutDefault
        let end = ContinuousClock.now + .seconds(seconds)
        let isThere = try await projector.wait(for: offsets) {
            Interrupt.isRequested || ContinuousClock.now >= end
        }
        if isThere { return .success }
        if Interrupt.isRequested { return Exit.interrupted }
        throw Failure(
            Exit.tryAgain,
            "the live tables do not hold \(position) after \(seconds) s; `subledger projections` "
                + "shows how far they are, and `subledger follow` brings them on"
        )
    }

    /// Longer than a step takes, shorter than a person waits.
    private static let timeoutDefault = 30.0
}

/// Says on stderr how far following has come.
private final class FollowProgress: Sendable {
    private let progress: SharedProgress

    init(isQuiet: Bool) {
        progress = SharedProgress("follow", isQuiet: isQuiet)
    }

    func report(_ following: Projector.Following) {
        progress.report(Int(following.events), "events, lag \(following.lag)")
    }

    func finish() { progress.finish() }
}
