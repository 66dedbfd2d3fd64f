public import Events

/// What a verification compares, and how much of the log it reads.
public struct VerificationOptions: Sendable {
    /// Heads that were kept; the log must still contain them.
    public var kept: [KeptHeads] = []
    /// Start after this checkpoint and read only what came later; nil for the whole log.
    public var since: Checkpoint?
    /// Keys whose signature makes a row of `ledger.checkpoint` as good as a copy kept outside.
    public var publicKeys: Set<CheckpointPublicKey> = []
    /// Ranges of commits verified at once, each on a connection; nil for as many as the log has
    /// connections for reading, which is also the most.
    public var jobs: Int?
    /// Events and payloads of a range: about a second's work, so that the cores end together.
    var rangeRowsMax = 16_384

    /// The whole log, against nothing but itself.
    public init() {}
}
