internal import Events

/// The timelines of a subscription as the ledger knew it, one for each time it learned something.
///
/// A timeline depends on all known facts, so each is folded from the beginning: the work grows with
/// the square of the number of facts, and is limited.
struct KnownTimelines {
    /// Everything that became known, and when.
    let recorded: RecordedHistory
    private let policy: AccessPolicy

    /// The maximum number of facts and repetitions to fold for one subscription, counted each time
    /// they are folded: about a minute of work.
    ///
    /// A subscription reaches it after more than eight years if Apple is asked about it every day.
    static let foldedFactsMax = 10_000_000

    /// Creates the timelines from the history of a timeline.
    ///
    /// - Throws: `FoldRefusal` if there are more facts to fold than `foldedFactsMax`.
    init(
        of timeline: Timeline,
        in context: FoldContext,
        for table: String
    ) throws(FoldRefusal) {
        guard let recorded = timeline.recorded else {
            preconditionFailure("\(table) needs a timeline with its recorded history")
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

    /// Calls a body with each timeline and the instant from which the ledger knew it, ascending.
    func forEach(_ body: (Timeline, Instant) -> Void) {
        // Includes repetitions: one can change what a row cites, so no instant is skipped.
        for instant in recorded.instants {
            body(Timeline(recorded.known(at: instant)).under(policy), instant)
        }
    }
}

extension RecordedHistory {
    /// The number of facts and repetitions to fold, if everything known is folded again for each
    /// instant at which something became known.
    var foldedFacts: Int {
        let instants = (events.map(\.recordedAt) + repetitions.map(\.recordedAt)).sorted()
        return instants.indices.reduce(0) { sum, index in
            let isLast = index + 1 == instants.count || instants[index + 1] != instants[index]
            return isLast ? sum + index + 1 : sum
        }
    }
}
