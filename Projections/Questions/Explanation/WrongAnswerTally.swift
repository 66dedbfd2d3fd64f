package import Events

/// The wrong answers of many subscriptions: sums over all, and those with the most seconds.
package struct WrongAnswerTally: Sendable {
    /// Number of subscriptions read.
    package private(set) var streams = 0
    /// Number of those with any wrong answer.
    package private(set) var streamsWithAny = 0
    /// Seconds by kind and cause, of all subscriptions, in descending order.
    package var totals: [Total] {
        milliseconds.map { Total(kind: $0.key.kind, cause: $0.key.cause, seconds: $0.value / 1000) }
            .sorted(by: Total.areInOrder)
    }
    /// The subscriptions with the most seconds, in descending order; at most `limit`.
    package private(set) var worst: [Line] = []

    /// Number of subscriptions with any time in which the ledger cannot have been asked.
    package private(set) var streamsNotAsked = 0
    /// The total length of these times, in whole seconds.
    package var secondsNotAsked: Int64 { millisecondsNotAsked / 1000 }

    private var millisecondsNotAsked: Int64 = 0
    private var milliseconds: [Key: Int64] = [:]
    private let limit: Int
    private let leftOut: Set<WrongAnswers.Cause>
    private let firstCommit: Instant?
    private let countsNotAsked: Bool

    private struct Key: Hashable {
        let kind: WrongAnswers.Kind
        let cause: WrongAnswers.Cause
    }

    /// Seconds of one kind and cause.
    package struct Total: Codable, Hashable, Sendable {
        /// The kind of wrong answer.
        package let kind: WrongAnswers.Kind
        /// What the ledger learned too late.
        package let cause: WrongAnswers.Cause
        /// The length, in whole seconds.
        package let seconds: Int64
    }

    /// One subscription.
    package struct Line: Sendable {
        /// The subscription.
        package let stream: StreamID
        /// Its wrong answers.
        package let answers: WrongAnswers

        /// How long the answer was wrong in either way, in whole seconds.
        package var seconds: Int64 {
            answers.seconds(.wronglyDenied) + answers.seconds(.wronglyGranted)
        }
    }

    /// Creates an empty tally.
    ///
    /// - Parameters:
    ///   - limit: How many of the worst subscriptions it keeps.
    ///   - leftOut: Wrong answers with one of these causes are ignored.
    ///   - firstCommit: When the ledger made its first commit; nil if that does not matter.
    ///   - countsNotAsked: Whether times in which the ledger cannot have been asked count too.
    package init(
        limit: Int,
        without leftOut: Set<WrongAnswers.Cause> = [],
        firstCommit: Instant? = nil,
        countsNotAsked: Bool = false
    ) {
        self.limit = max(0, limit)
        self.leftOut = leftOut
        self.firstCommit = firstCommit
        self.countsNotAsked = countsNotAsked
    }

    /// Adds a subscription.
    package mutating func add(_ history: RecordedHistory) {
        streams += 1
        let all = WrongAnswers([history], firstCommit: firstCommit).without(leftOut)
        let notAsked = all.stretches.filter { $0.notAsked != nil }
        if !notAsked.isEmpty { streamsNotAsked += 1 }
        millisecondsNotAsked += notAsked.reduce(0) {
            $0 + $1.to.milliseconds - $1.from.milliseconds
        }
        let answers = countsNotAsked ? all : all.asked
        guard !answers.stretches.isEmpty else { return }
        streamsWithAny += 1
        for stretch in answers.stretches {
            milliseconds[Key(kind: stretch.kind, cause: stretch.cause), default: 0] +=
                stretch.to.milliseconds - stretch.from.milliseconds
        }
        let line = Line(stream: history.stream, answers: answers)
        let place = worst.firstIndex { WrongAnswerTally.isWorse(line, than: $0) } ?? worst.count
        guard place < limit else { return }
        worst.insert(line, at: place)
        if worst.count > limit { worst.removeLast() }
    }

    /// Seconds of one kind, of all subscriptions.
    package func seconds(_ kind: WrongAnswers.Kind) -> Int64 {
        milliseconds.reduce(0) { $1.key.kind == kind ? $0 + $1.value : $0 } / 1000
    }

    private static func isWorse(_ left: Line, than right: Line) -> Bool {
        left.seconds != right.seconds ? left.seconds > right.seconds : left.stream < right.stream
    }
}

extension WrongAnswerTally.Total {
    fileprivate static func areInOrder(_ left: Self, _ right: Self) -> Bool {
        if left.seconds != right.seconds { return left.seconds > right.seconds }
        if left.kind != right.kind { return left.kind.rawValue.isBefore(right.kind.rawValue) }
        return left.cause.rawValue.isBefore(right.cause.rawValue)
    }
}

extension String {
    fileprivate func isBefore(_ other: String) -> Bool { byBytes(self, other) ?? false }
}
