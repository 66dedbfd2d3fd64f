internal import Events
public import Projector

/// A table of a projection: which fold built it, and up to which position.
public struct TableDocument: Codable, Hashable, Sendable {
    /// The projection's name.
    public let name: String
    /// `live`, `ready`, `kept`, `pinned` or `filling`.
    public let state: String
    /// The schema with the table.
    public let schema: String
    /// The version of the fold that built it.
    public let version: Int
    /// Whether this program's fold produces the same rows, so it can keep the table up to date.
    public let isCurrent: Bool
    /// Whether this program has a projection with that name.
    public let isKnown: Bool
    /// The newest version of the catalog used by the fold; 0 for none.
    public let catalogVersion: Int
    /// The policy of a what-if, as JSON; nil for the policy in force.
    public let policy: String?
    /// The newest event of each lane that it includes, by the lane's number.
    public let positions: [String: Int64]
    /// Events of the log that it does not include yet.
    public let lag: Int64
    /// Number of rows.
    public let rows: Int
    /// Digest of the content, in hexadecimal.
    public let digest: String
    /// Subscriptions that the fold refused.
    public let refused: Int

    /// The document of a table.
    public init(_ table: Projector.Table) {
        name = table.name
        state = table.state.rawValue
        schema = table.schema
        version = table.version
        isCurrent = table.isCurrent
        isKnown = table.isKnown
        catalogVersion = table.catalogVersion
        policy = table.policy
        positions = PositionVector(table.positions).document
        lag = table.lag
        rows = table.rows
        digest = table.digest.hex
        refused = table.refused
    }
}
