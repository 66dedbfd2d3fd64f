internal import Events

/// Finds the instants of Apple's clock at which Apple had stated exactly what the ledger knew at
/// some instant of ours.
///
/// The events and repetitions are those of one history, in the same order by both clocks; only when
/// the ledger could use them may differ.
struct StatementClocks {
    private let stated: [Instant]
    private let recorded: [Instant]

    /// The clocks of a history, and of the same history as a reader of the ledger could use it.
    init(_ history: RecordedHistory, recordedAs known: RecordedHistory) {
        stated = history.events.map(\.fact.asOf) + history.repetitions.map(\.confirmation.asOf)
        recorded = known.events.map(\.recordedAt) + known.repetitions.map(\.recordedAt)
    }

    /// By instants of Apple's clock, an instant of ours at which the same was known.
    func sameKnowledge() -> [Instant: Instant] {
        let byRecord = Dictionary(
            counts(recorded).map { ($0.count, $0.instant) },
            uniquingKeysWith: { first, _ in first }
        )
        var found: [Instant: Instant] = [:]
        for (instant, count) in counts(stated) {
            guard let recordedAt = byRecord[count], isSame(instant, recordedAt) else { continue }
            found[instant] = recordedAt
        }
        return found
    }

    // How much is known at each instant, ascending.
    private func counts(_ clock: [Instant]) -> [(instant: Instant, count: Int)] {
        var counts: [(instant: Instant, count: Int)] = []
        for (index, instant) in clock.sorted().enumerated() {
            if counts.last?.instant == instant { counts.removeLast() }
            counts.append((instant, index + 1))
        }
        return counts
    }

    // Apple may have stated an event in part before, in what the log has as its repetition: the
    // ledger then knew the event with the repetition, so these instants are never the same.
    private func isSame(_ instant: Instant, _ recordedAt: Instant) -> Bool {
        stated.indices.allSatisfy { (stated[$0] <= instant) == (recorded[$0] <= recordedAt) }
    }
}
