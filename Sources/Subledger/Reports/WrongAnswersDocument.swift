internal import EventLog
public import Events
public import Projections

/// For how long the ledger denied or granted wrongly, because it learnt late.
public struct WrongAnswersDocument: Codable, Hashable, Sendable {
    /// Subscriptions that were looked at.
    public let streams: Int
    /// Those that were ever answered wrongly.
    public let streamsWithAny: Int
    /// How long access was denied wrongly, over all.
    public let wronglyDeniedSeconds: Int64
    /// How long it was granted wrongly, over all.
    public let wronglyGrantedSeconds: Int64
    /// Subscriptions with any time in which this ledger cannot have been asked: before its first
    /// commit, or what an import brought.
    public let streamsNotAsked: Int
    /// How long these times are together; counted above only where that was asked for.
    public let notAskedSeconds: Int64
    /// The same by what was learnt too late.
    public let causes: [Cause]
    /// The subscriptions with the most seconds.
    public let worst: [Subscription]
    /// How many subscriptions have events that cannot be read.
    public let unreadableStreams: Int
    /// The first of these.
    public let unreadable: [UnreadableStreams.Named]

    /// What was learnt too late, and what that cost.
    public struct Cause: Codable, Hashable, Sendable {
        /// `wronglyDenied` or `wronglyGranted`.
        public let kind: String
        /// What was learnt too late.
        public let cause: String
        /// For how long.
        public let seconds: Int64
    }

    /// A subscription that was answered wrongly.
    public struct Subscription: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// How long access was denied wrongly.
        public let wronglyDeniedSeconds: Int64
        /// How long it was granted wrongly.
        public let wronglyGrantedSeconds: Int64
        /// When, and why.
        public let stretches: [Stretch]
    }

    /// A time in which the answer was wrong.
    public struct Stretch: Codable, Hashable, Sendable {
        /// `wronglyDenied` or `wronglyGranted`.
        public let kind: String
        /// What was learnt too late.
        public let cause: String
        /// Its first instant.
        public let from: Instant
        /// Its end, which is not part of it.
        public let to: Instant
        /// Its length.
        public let seconds: Int64
        /// `beforeLedger` or `imported`, where the ledger cannot have been asked; else nil.
        public let notAsked: String?
    }
}

extension Ledger {
    /// For how long the ledger denied or granted wrongly, because it learnt late.
    ///
    /// Compares, for every subscription and every instant, what was answered then with what is
    /// known now. Times in which this ledger cannot have been asked (`WrongAnswers.NotAsked`) are
    /// left out and counted apart. Reads the log once and holds one subscription in memory.
    ///
    /// - Parameters:
    ///   - limit: Most subscriptions that are listed; all are counted.
    ///   - without: Causes that are left out.
    ///   - countsNotAsked: Whether times in which the ledger cannot have been asked count too.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    public func wrongAnswers(
        limit: Int = 20,
        without: Set<WrongAnswers.Cause> = [],
        countsNotAsked: Bool = false
    ) async throws -> WrongAnswersDocument {
        let lanes = log.identity.lanes
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
                if tally.unreadable.take(history.stream, history.unreadable, lanes: lanes) {
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
        causes = tally.totals.map { total in
            Cause(kind: total.kind.rawValue, cause: total.cause.rawValue, seconds: total.seconds)
        }
        worst = tally.worst.map { line in
            Subscription(
                originalTransactionId: line.stream.originalTransactionId,
                environment: line.stream.environment,
                wronglyDeniedSeconds: line.answers.seconds(.wronglyDenied),
                wronglyGrantedSeconds: line.answers.seconds(.wronglyGranted),
                stretches: line.answers.stretches.map { stretch in
                    Stretch(
                        kind: stretch.kind.rawValue,
                        cause: stretch.cause.rawValue,
                        from: stretch.from,
                        to: stretch.to,
                        seconds: stretch.seconds,
                        notAsked: stretch.notAsked?.rawValue
                    )
                }
            )
        }
        unreadableStreams = unreadable.count
        self.unreadable = unreadable.named
    }
}
