internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// How the log is followed.
    public struct FollowOptions: Sendable {
        /// Whether to end when all that was committed at the start is in the tables.
        public var isOnce = false
        /// How long to wait before looking for new commits again, where there were none.
        public var pollInterval = Duration.milliseconds(500)
        /// This process, in words that `operation.lease` shows; no two may share them.
        public var holder: String
        /// For how long a lane is left to a process that does not answer.
        public var leaseSeconds = 15.0
        /// Asked between steps whether to end.
        public var isStopped: @Sendable () -> Bool = { false }
        /// Told after each look at the log what was done so far and what is left.
        public var progress: @Sendable (Following) -> Void = { _ in }
        /// Told in a sentence what a person should know, once.
        public var notice: @Sendable (String) -> Void = { _ in }

        /// Following by a process of that name, until it is stopped.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// What following has come to.
    public struct Following: Sendable {
        /// Events that this process has brought into the live tables, and again those that it has
        /// brought into the tables of another schema.
        public internal(set) var events: Int64 = 0
        /// Streams that it folded for that, each as often as it had news.
        public internal(set) var streams = 0
        /// How many of them a fold refused.
        public internal(set) var refused = 0
        /// Steps it took: transactions.
        public internal(set) var steps = 0
        /// Events of the log that are not yet in every followed table.
        public internal(set) var lag: Int64 = 0
        /// Lanes with news that another process holds.
        public internal(set) var lanesHeldByOthers = 0
        /// Projections whose live tables other folds have made, which this program leaves as they
        /// are.
        public internal(set) var notFollowed: [String] = []
    }

    /// Brings what is committed into the tables, again and again, until it is stopped.
    ///
    /// Keeps up every table that the folds of this program made: the live ones, and after them
    /// those that wait to be promoted and those kept beside, which never hold the live ones up:
    /// where one cannot be brought on, that is told, and the others go on. Several processes may do
    /// so at once; each event enters each table once, because rows and place are written by one
    /// transaction. After any step the tables equal those of a rebuild up to the same commit, byte
    /// for byte.
    ///
    /// - Parameter options: How.
    /// - Returns: What was done; when the task is cancelled too.
    /// - Throws: `nothingLive` where no table is there that this program may follow, or one is
    ///   gone; `logForked`, `databaseUnavailable`.
    public func follow(_ options: FollowOptions) async throws(ProjectorError) -> Following {
        var following = Following()
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
                // What a step did not commit it has not done, so that it can just be tried again.
                options.notice("lost the database, retrying: \(error)")
            }
            do {
                try await Task.sleep(for: max(options.pollInterval, Projector.reconnectPause))
            } catch {
                return following
            }
        }
    }

    /// How long a server gets to come back before it is tried again.
    private static let reconnectPause = Duration.seconds(1)
}
