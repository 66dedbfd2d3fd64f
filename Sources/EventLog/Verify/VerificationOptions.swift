package import Events

/// What a verification compares, and how much of the log it reads.
package struct VerificationOptions: Sendable {
    /// Heads recorded earlier, which the log must still contain.
    package var kept: [KeptHeads] = []
    /// Start after this checkpoint and read only later commits; nil for the whole log.
    package var since: Checkpoint?
    /// Keys whose signature makes a row of `ledger.checkpoint` as good as a copy stored outside.
    package var publicKeys: Set<CheckpointPublicKey> = []
    /// Ranges of commits verified at once, each on a connection; nil for as many as the log has
    /// connections for reading, which is also the most.
    package var jobs: Int?
    /// Events and payloads of a range: about a second's work, so the cores finish at about the same
    /// time.
    var rangeRowsMax = 16_384

    /// The whole log, compared only with itself.
    package init() {}
}
