internal import Events
internal import Postgres

/// What the log knows that is needed to decide on a batch.
struct AppendKnowledge: Sendable {
    /// What is known about every subject of the batch.
    var subjects: [Subject: Knowledge] = [:]
    /// For each payload of the batch that the lane already contains, by its digest, the strongest
    /// trust.
    var evidence: [Digest: Verification.Trust] = [:]
    /// An upper bound of the latest as-of among the confirmations of a stream.
    var latestConfirmation: [StreamID: Instant] = [:]
    /// The ends that were stated for purchases: those whose end was moved, and those of the batch.
    var ends = PeriodEnds()
    /// The events of the purchases whose end was moved, by their offset.
    var movedEnds: [Int64: MovedEnd] = [:]
    /// The erasures that affect facts still to come, by subscription.
    var erasures: [StreamID: KnownErasure] = [:]
    /// Whether the ids of new rows must be in the directory of lanes before the rows are
    /// (`LaneDirectory`).
    var hasDirectory = false
}

/// An event of a purchase that was stated with several ends.
struct MovedEnd: Sendable {
    let subject: Subject
    let asOf: Instant
}

extension AppendKnowledge {
    /// Learns the answer to `AppendLookUp.movedEnds`.
    mutating func learnMovedEnds(in rows: PostgresRows, of streams: [StreamID]) throws {
        for row in rows {
            let moved = MovedEnd(
                subject: Subject(
                    stream: streams[Int(try row.int8(0)) - 1],
                    kind: .transaction,
                    purchaseDate: Instant(milliseconds: try row.int8(2)),
                    expiresDate: Instant(milliseconds: try row.int8(3)),
                    name: try row.textIfPresent(4) ?? ""
                ),
                asOf: Instant(milliseconds: try row.int8(5))
            )
            movedEnds[try row.int8(1)] = moved
            ends.learn(moved.subject, asOf: moved.asOf)
        }
    }
}
