internal import Events
public import Projector

/// A table of a projection: which fold made it, and how far it goes.
public struct TableDocument: Codable, Hashable, Sendable {
    /// The projection's name.
    public let name: String
    /// `live`, `ready`, `beside`, `fixed` or `filling`.
    public let state: String
    /// Where the table is.
    public let schema: String
    /// The version of the fold that made it.
    public let version: Int
    /// Whether this program's fold makes the same, so that it may follow it.
    public let isCurrent: Bool
    /// Whether this program has a projection of that name at all.
    public let isKnown: Bool
    /// The newest version of the catalog that the fold knew; 0 for none.
    public let catalogVersion: Int
    /// The policy of a what-if, as JSON; nil for the one that holds.
    public let policy: String?
    /// The newest event of each lane that is in it, by the lane's number.
    public let positions: [String: Int64]
    /// Events of the log that are not in it yet.
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
