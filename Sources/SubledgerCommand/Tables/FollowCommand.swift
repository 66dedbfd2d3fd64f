import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Projector
import Subledger
import Synchronization

struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Keep the tables of projections up to date with the log.",
        discussion: """
            Applies every commit to the tables until SIGINT or SIGTERM; after each step they equal \
            those of a rebuild, byte for byte. Any number of processes may follow: each lane \
            belongs to one of them at a time, and another takes over when that one is gone. Rows \
            and their position are written in one transaction, so nothing is applied twice.

            Exit 3 if a fold refused a subscription: it has no rows, and projection.refused_stream \
            records why; all others are followed. Exit 3 also if --once could not update live \
            tables because different folds built them. Exit 130 if --once was interrupted before \
            the tables were up to date.

            --wait-for only waits until the live tables contain what you appended; exit 75 if that \
            takes longer than --timeout. Pass the positions that `ingest` and `feed` print.
            """
    )

    @Flag(help: "Exit when the tables contain everything that is in the log now.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "Only wait until the live tables contain these events: an offset, or lane:offset "
                + "pairs.",
            valueName: "position"
        ),
        transform: AwaitedPositions.init
    )
    var waitFor: AwaitedPositions?

    @Option(help: "Maximum number of seconds that --wait-for waits. Default: 30.")
    var timeout: Double?

    @Option(help: ArgumentHelp("Polling interval in seconds. Default: 0.5.", valueName: "seconds"))
    var pollInterval: Double?

    @Option(
        help: ArgumentHelp(
            "Take over a lane if its process is silent for this many seconds. Default: 15.",
            valueName: "seconds"
        )
    )
    var lease: Double?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The polling interval, in seconds: a step takes some milliseconds.
    private static let pollIntervalDefault = 0.5

    /// A shorter interval would query the server without pause; a longer one is a job for cron.
    private static let pollIntervals = 0.05...3600

    /// With a lease shorter than a step, two processes do the same work; with one longer than an
    /// hour, no process takes over in time.
    private static let leases = 1.0...Projector.FollowOptions.leaseSecondsMax

    /// A caller that would wait longer than a day should ask again instead.
    private static let timeouts = 0.0...86_400

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
        guard !once, lease == nil, pollInterval == nil else {
            throw ValidationError(
                "--wait-for only waits and does not follow: leave out --once, --lease and "
                    + "--poll-interval"
            )
        }
        if let timeout, !FollowCommand.timeouts.contains(timeout) {
            throw ValidationError("--timeout must be from 0 to 86400, not \(timeout)")
        }
    }

    func run() async throws {
        let settings = try await database.settings()
        var logOptions = EventLog.Options()
        logOptions.readersMax = 1
        let log = try await EventLog.open(settings, logOptions)
        let projector = Projector(log: log, settings: settings) {
            FoldContext(catalogs: try await CatalogStore(log: log).history())
        }
        Interrupt.heed()
        let end: ExitCode
        if let waitFor {
            end = try await wait(for: waitFor, projector, log)
        } else {
            end = try await follow(projector, log)
        }
        await log.close()
        guard end == .success else { throw end }
    }

    private func follow(_ projector: Projector, _ log: EventLog) async throws -> ExitCode {
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

        let heads = try await log.heads().mapValues(\.offset)
        let done = try await projector.follow(options)
        progress.finish()
        // If it was stopped during a look, it has not counted the lanes that it did not reach; it
        // never counts tables that it does not follow.
        var lag = done.lag
        if !progress.isThere || !done.notFollowed.isEmpty {
            lag = max(lag, try await FollowCommand.lag(projector, heads))
        }

        try print(done, lag: lag, positions: try await projector.livePositions(), of: log.identity)
        if once, !progress.isThere {
            let left = lag == 1 ? "1 event is left" : "\(lag) events are left"
            Terminal.write("follow: interrupted; \(left): run it again to continue")
            return Exit.interrupted
        }
        return done.refused > 0 || lag > 0 && once ? Exit.mismatch : .success
    }

    // Events up to the heads that are missing from some live table of a known projection.
    private static func lag(_ projector: Projector, _ heads: [Int: Int64]) async throws -> Int64 {
        try await projector.tables().filter { $0.isKnown && $0.state == .live }.map { table in
            heads.reduce(0) { $0 + max(0, $1.value - (table.positions[$1.key] ?? 0)) }
        }.max() ?? 0
    }

    private func print(
        _ done: Projector.Following,
        lag: Int64,
        positions: [Int: Int64],
        of identity: LedgerIdentity
    ) throws {
        if done.refused > 0 {
            Terminal.write(
                "follow: \(counted(done.refused, "stream")) refused; `SELECT * FROM "
                    + "projection.refused_stream` lists which, and why"
            )
        }
        if output.json {
            try Terminal.print(
                json: FollowDocument(
                    events: done.events,
                    streams: done.streams,
                    steps: done.steps,
                    refused: done.refused,
                    lag: lag,
                    notFollowed: done.notFollowed,
                    positions: positions
                )
            )
            return
        }
        let place = identity.lanes.text(positions)
        Terminal.print(
            "\(counted(done.events, "event")) of \(counted(done.streams, "stream")) in "
                + "\(counted(done.steps, "step")); the live tables hold the log up to \(place.isEmpty ? "its beginning" : place), lag \(lag)"
        )
    }

    private func wait(
        for awaited: AwaitedPositions,
        _ projector: Projector,
        _ log: EventLog
    ) async throws -> ExitCode {
        try await awaited.check(in: log)
        let seconds = timeout ?? FollowCommand.timeoutDefault
        let end = ContinuousClock.now + .seconds(seconds)
        let isThere = try await projector.wait(for: awaited.vector.offsets) {
            Interrupt.isRequested || ContinuousClock.now >= end
        }

        if output.json {
            try Terminal.print(
                json: WaitDocument(
                    waitedFor: awaited.vector.offsets,
                    isThere: isThere,
                    positions: try await projector.livePositions()
                )
            )
        }
        if isThere { return .success }
        if Interrupt.isRequested { return Exit.interrupted }

        let position = log.identity.lanes.text(awaited.vector.offsets)
        let others = try await projector.tables().filter {
            $0.state == .live && $0.isKnown && !$0.isCurrent
        }.map(\.name)
        throw Failure(
            Exit.tryAgain,
            "the live tables do not contain \(position) after \(seconds) s; `subledger tables` "
                + "shows their positions, and `subledger follow` updates them"
                + (others.isEmpty
                    ? ""
                    : ", except \(others.joined(separator: ", ")), which other folds built: "
                        + "`subledger tables diff` shows what a rebuild would change")
        )
    }

    /// Longer than a step takes, shorter than a person waits.
    private static let timeoutDefault = 30.0
}

/// Reports on stderr how far following has come, and records whether it reached the end.
private final class FollowProgress: Sendable {
    private let progress: Progress
    private let hasArrived = Atomic<Bool>(false)

    init(isQuiet: Bool) {
        progress = Progress("follow", isQuiet: isQuiet)
    }

    /// Whether nothing was left to do after the last complete look at the log.
    var isThere: Bool { hasArrived.load(ordering: .relaxed) }

    func report(_ following: Projector.Following) {
        // A look that a signal interrupted has not seen every lane.
        hasArrived.store(following.lag == 0 && !Interrupt.isRequested, ordering: .relaxed)
        progress.report(Int(following.events), "event", note: ", lag \(following.lag)")
    }

    func finish() { progress.finish() }
}

/// The result of following the log.
private struct FollowDocument: Encodable {
    let events: Int64
    let streams: Int
    let steps: Int
    let refused: Int
    let lag: Int64
    let notFollowed: [String]
    let positions: [Int: Int64]
}

/// Whether the live tables include the positions that were waited for.
private struct WaitDocument: Encodable {
    let waitedFor: [Int: Int64]
    let isThere: Bool
    let positions: [Int: Int64]
}
