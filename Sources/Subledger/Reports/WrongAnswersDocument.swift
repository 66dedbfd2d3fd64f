internal import EventLog
public import Events
public import Projections

/// How long the ledger wrongly denied or granted access because it learned of events late.
public struct WrongAnswersDocument: Codable, Hashable, Sendable {
    /// The number of subscriptions read.
    public let streams: Int
    /// Those for which any answer was ever wrong.
    public let streamsWithAny: Int
    /// Seconds of wrongly denied access, in all.
    public let wronglyDeniedSeconds: Int64
    /// Seconds of wrongly granted access, in all.
    public let wronglyGrantedSeconds: Int64
    /// Subscriptions with times in which this ledger cannot have been asked: before its first
    /// commit, or covered by an import.
    public let streamsNotAsked: Int
    /// The total length of these times; counted above only if requested.
    public let notAskedSeconds: Int64
    /// The totals by what the ledger learned too late.
    public let causes: [WrongAnswerTally.Total]
    /// The subscriptions with the most seconds.
    public let worst: [Subscription]
    /// How many subscriptions have events that cannot be read.
    public let unreadableStreams: Int
    /// The first of these.
    public let unreadable: [UnreadableStreams.Named]

    /// A subscription with wrong answers.
    public struct Subscription: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// Seconds of wrongly denied access.
        public let wronglyDeniedSeconds: Int64
        /// Seconds of wrongly granted access.
        public let wronglyGrantedSeconds: Int64
        /// The intervals, with their causes.
        public let stretches: [WrongAnswers.Stretch]
    }
}

extension Ledger {
    /// How long the ledger wrongly denied or granted access because it learned of events late.
    ///
    /// Compares, for every subscription and every instant, the answer at the time with what is
    /// known now. Times in which this ledger cannot have been asked (`WrongAnswers.NotAsked`) are
    /// left out and counted separately. Reads the log once and holds one subscription in memory.
    ///
    /// - Parameters:
    ///   - limit: The most subscriptions that are listed; all are counted.
    ///   - without: Causes that are left out.
    ///   - countsNotAsked: Whether times in which the ledger cannot have been asked count too.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    public func wrongAnswers(
        limit: Int = 20,
        without: Set<WrongAnswers.Cause> = [],
        countsNotAsked: Bool = false
    ) async throws -> WrongAnswersDocument {
        var tally = ScanResult(
            state: WrongAnswerTally(
                limit: limit,
                without: without,
                firstCommit: try await log.firstCommittedAt(),
                countsNotAsked: countsNotAsked
            )
        )
        for (lane, head) in try await log.heads().sorted(by: { $0.key < $1.key }) {
            tally = try await log.foldRecordedStreams(lane: lane, upTo: head, into: tally) {
                tally,
                history in
                if tally.unreadable.take(history.stream, history.unreadable) {
                    return
                }
                tally.state.add(history)
            }
        }
        return WrongAnswersDocument(tally.state, tally.unreadable)
    }
}

extension WrongAnswersDocument {
    fileprivate init(_ tally: WrongAnswerTally, _ unreadable: UnreadableStreams) {
        streams = tally.streams
        streamsWithAny = tally.streamsWithAny
        wronglyDeniedSeconds = tally.seconds(.wronglyDenied)
        wronglyGrantedSeconds = tally.seconds(.wronglyGranted)
        streamsNotAsked = tally.streamsNotAsked
        notAskedSeconds = tally.secondsNotAsked
        causes = tally.totals
        worst = tally.worst.map { line in
            Subscription(
                originalTransactionId: line.stream.originalTransactionId,
                environment: line.stream.environment,
                wronglyDeniedSeconds: line.answers.seconds(.wronglyDenied),
                wronglyGrantedSeconds: line.answers.seconds(.wronglyGranted),
                stretches: line.answers.stretches
            )
        }
        unreadableStreams = unreadable.count
        self.unreadable = unreadable.named
    }
}
