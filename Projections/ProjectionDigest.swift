public import Events

/// The digest of a projection's content: equal for two ledgers that hold the same facts.
///
/// SHA-256 over the canonical bytes of all rows, each after its 32-bit byte count, in the order of
/// streams (environment's word, then id, by bytes) and of rows within a stream.
public struct ProjectionDigest: Sendable {
    /// How many rows were added.
    public private(set) var rowCount = 0

    private var running = RunningDigest()
    private var last: StreamID?

    /// The digest of no row yet.
    public init() {}

    /// Adds all rows of a stream, which must come after every stream added before.
    public mutating func add(_ rows: [ProjectionRow], of stream: StreamID) {
        if let last, !(last < stream) {
            preconditionFailure("rows of \(stream) were added to a digest after those of \(last)")
        }
        last = stream
        var writer = ByteWriter()
        for row in rows { writer.prefixed(row.canonicalBytes) }
        running.add(writer.bytes)
        rowCount += rows.count
    }

    /// The digest of what was added so far.
    public var digest: Digest { running.digest }
}
