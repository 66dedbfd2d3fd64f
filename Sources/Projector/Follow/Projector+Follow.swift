internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// Options for following the log.
    public struct FollowOptions: Sendable {
        /// Whether to end when the tables include everything that was committed at the start.
        public var isOnce = false
        /// The polling interval for new commits when there are none.
        public var pollInterval = Duration.milliseconds(500)
        /// The name of this process, which `operation.lease` shows; it must be unique.
        public var holder: String
        /// Seconds before another process takes over a silent lane, at most ``leaseSecondsMax``.
        public var leaseSeconds = 15.0
        /// The longest lease, in seconds; one in the database that is longer does not count.
        public static let leaseSecondsMax = 3600.0
        /// Called between steps; true ends following.
        public var isStopped: @Sendable () -> Bool = { false }
        /// Receives, after each look at the log, what was done so far and what is left.
        public var progress: @Sendable (Following) -> Void = { _ in }
        /// Receives sentences for the operator, each once.
        public var notice: @Sendable (String) -> Void = { _ in }

        /// Receives each loss of the database, after which following continues.
        ///
        /// - Returns: Whether it is reported there; otherwise `notice` reports it, once a minute.
        public var takesLoss: @Sendable (ProjectorError) -> Bool = { _ in false }

        /// Options for a process with that name, which follows until it is stopped.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// What following has done so far.
    public struct Following: Sendable {
        /// Events that this process has applied to the live tables, plus those that it has applied
        /// to the tables of other schemas.
        public internal(set) var events: Int64 = 0
        /// Streams that it folded, each as often as it had news.
        public internal(set) var streams = 0
        /// The number of these that a fold refused.
        public internal(set) var refused = 0
        /// The number of steps, which are transactions.
        public internal(set) var steps = 0
        /// Events of the log that are not yet in every followed table.
        public internal(set) var lag: Int64 = 0
        /// Lanes with news that another process holds.
        public internal(set) var lanesHeldByOthers = 0
        /// Projections whose live tables were built by other folds, which this program leaves
        /// unchanged.
        public internal(set) var notFollowed: [String] = []
    }

    /// Applies new commits to the tables until it is stopped.
    ///
    /// Keeps every table that the folds of this program built up to date: the live ones, then those
    /// ready to be promoted and those that are kept. The latter never delay the live ones: if one
    /// cannot be updated, that is reported, and the others continue. Several processes may do so at
    /// once; each event is applied to each table once, because rows and position are written in one
    /// transaction. After any step the tables equal those of a rebuild up to the same commit, byte
    /// for byte.
    ///
    /// - Parameter options: The options.
    /// - Returns: What was done; also when the task is cancelled.
    /// - Throws: `nothingLive` if there is no table that this program may follow, or one is gone;
    ///   `logForked`, `databaseUnavailable`.
    public func follow(_ options: FollowOptions) async throws(ProjectorError) -> Following {
        var following = Following()
        var noticedAt: ContinuousClock.Instant?
        while true {
            do {
                let session = try await PostgresSession.connect(settings)
                do {
                    var follower = try await Follower(self, options, following, in: session)
                    defer { following = follower.following }
                    try await follower.follow()
                    await session.close()
                    return follower.following
                } catch {
                    await session.close()
                    throw error
                }
            } catch {
                // The lease is left to expire.
                if Task.isCancelled { return following }
                let error = ProjectorError(error, doing: "follow")
                guard error.isPassing, !options.isOnce, !options.isStopped() else { throw error }
                // A step that was not committed did nothing, so it can simply be repeated.
                let now = ContinuousClock.now
                let isRecent = noticedAt.map { now - $0 < Projector.lossInterval } ?? false
                if !options.takesLoss(error), !isRecent {
                    options.notice("lost the database, retrying: \(error)")
                    noticedAt = now
                }
            }

            do {
                try await Task.sleep(for: max(options.pollInterval, Projector.reconnectPause))
            } catch {
                return following
            }
        }
    }

    /// How long to wait for a server before another attempt.
    private static let reconnectPause = Duration.seconds(1)

    /// The pause between two notices that the database was lost.
    private static let lossInterval = Duration.seconds(60)
}
