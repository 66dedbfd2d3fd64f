internal import Events

/// What the ledger knew of a subscription, each time that it learned something, as timelines.
///
/// A timeline is a function of all that is known, so each is folded from the beginning: the work
/// grows with the square of the facts, and is bounded.
struct KnownTimelines {
    /// All that became known, and when.
    let recorded: RecordedHistory
    private let policy: AccessPolicy

    /// Facts and repetitions that are folded for one subscription at most, each as often as it is
    /// folded: about a minute of work.
    ///
    /// A subscription that Apple is asked about every day reaches it after more than eight years.
    static let foldedFactsMax = 10_000_000

    /// The timelines of what a timeline was folded from.
    ///
    /// - Throws: `FoldRefusal` where there are more facts to fold than `foldedFactsMax`.
    init(
        of timeline: Timeline,
        in context: FoldContext,
        for table: String
    ) throws(FoldRefusal) {
        guard let recorded = timeline.recorded else {
            preconditionFailure("\(table) folds a timeline that does not know when it was recorded")
        }
        self.recorded = recorded
        policy = context.policy
        let count = recorded.foldedFacts
        guard count > KnownTimelines.foldedFactsMax, let last = recorded.events.last else { return }
        throw FoldRefusal(
            last.position,
            "its subscription became known in \(recorded.instants.count) steps, for which \(table) "
                + "would fold \(count) facts; the maximum is \(KnownTimelines.foldedFactsMax)"
        )
    }

    /// Hands over each timeline with the instant from which it was what the ledger knew, ascending.
    func forEach(_ body: (Timeline, Instant) -> Void) {
        // Repetitions too: one can move what a row cites, so no instant is passed over.
        for instant in recorded.instants {
            body(Timeline(recorded.known(at: instant)).under(policy), instant)
        }
    }
}

extension RecordedHistory {
    /// Facts and repetitions that are folded where all that was known is folded for each instant at
    /// which something became known.
    var foldedFacts: Int {
        let instants = (events.map(\.recordedAt) + repetitions.map(\.recordedAt)).sorted()
        return instants.indices.reduce(0) { sum, index in
            let isLast = index + 1 == instants.count || instants[index + 1] != instants[index]
            return isLast ? sum + index + 1 : sum
        }
    }
}
