internal import Events

/// What the log knows that is needed to decide on a batch.
struct AppendKnowledge: Sendable {
    /// What is known about every subject of the batch.
    var subjects: [Subject: Knowledge] = [:]
    /// For each payload of the batch that the lane already contains, by its digest, the strongest
    /// trust.
    var evidence: [Digest: Verification.Trust] = [:]
    /// An upper bound of the latest as-of among the confirmations of a stream.
    var latestConfirmation: [StreamID: Instant] = [:]
    /// The erasures that affect facts still to come, by subscription.
    var erasures: [StreamID: KnownErasure] = [:]
    /// Whether the ids of new rows must be in the directory of lanes before the rows are
    /// (`LaneDirectory`).
    var hasDirectory = false
}
