internal import EventLog
public import Events
public import Projections

/// How long the ledger wrongly denied or granted access because it learned of events late.
public struct WrongAnswersDocument: LogReport, Hashable {
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
        public let environment: StoreEnvironment
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

extension WrongAnswersDocument {
    /// The answer as text; whether times in which the ledger cannot have been asked were counted.
    package func text(countsNotAsked: Bool) -> [Block] {
        var text: [Block] = [
            .line(
                "\(streamsWithAny) of \(streams) streams had wrong answers at some time: denied "
                    + "for \(Duration.words(wronglyDeniedSeconds)), granted for "
                    + Duration.words(wronglyGrantedSeconds)
            )
        ]
        if streamsNotAsked > 0 {
            let (fate, hint) =
                countsNotAsked ? ("counted", "") : ("left out", "; --all counts them too")
            text.append(
                .line(
                    "not asked of this ledger, and \(fate): \(counted(streamsNotAsked, "stream")), "
                        + "\(Duration.words(notAskedSeconds)) before its first commit or brought "
                        + "by an import\(hint)"
                )
            )
        }
        guard !worst.isEmpty else { return text }
        let totals = causes.map { total in
            [total.kind.rawValue, total.cause.words, Duration.words(total.seconds)]
        }
        text += [
            .table(["kind", "cause", "time"], totals), .gap,
            .table(["stream", "environment", "denied", "granted", "longest"], worst.map(\.cells)),
        ]
        let more = streamsWithAny - worst.count
        guard more > 0 else { return text }
        return text + [.line("\(counted(more, "stream")) more; list more with --limit")]
    }
}

extension WrongAnswersDocument.Subscription {
    fileprivate var cells: [String] {
        let longest = stretches.max { $0.seconds < $1.seconds }
        return [
            originalTransactionId, environment.word, Duration.words(wronglyDeniedSeconds),
            Duration.words(wronglyGrantedSeconds),
            longest.map { "\($0.from.clock) → \($0.to.clock), \($0.cause.words)" } ?? "",
        ]
    }
}
