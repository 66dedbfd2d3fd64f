internal import Events

/// What the log knows that a batch has to be judged by.
struct AppendKnowledge: Sendable {
    /// What is known about every subject of the batch.
    var subjects: [Subject: Knowledge] = [:]
    /// The strongest trust by which the lane holds a payload of the batch already, by its digest.
    var evidence: [Digest: Verification.Trust] = [:]
    /// The latest as-of, at most, of what confirms anything of a stream.
    var latestConfirmation: [StreamID: Instant] = [:]
    /// The erasures that bear upon what still comes in, by subscription.
    var erasures: [StreamID: KnownErasure] = [:]
}
