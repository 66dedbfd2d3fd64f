internal import Events
public import Projector

/// A table that was made from the log.
public struct RebuiltDocument: Codable, Hashable, Sendable {
    /// The projection's name.
    public let name: String
    /// The version of the fold.
    public let version: Int
    /// Where the table is.
    public let schema: String
    /// Number of rows.
    public let rows: Int
    /// Events that were folded.
    public let events: Int
    /// Subscriptions that were folded.
    public let streams: Int
    /// Subscriptions that the fold refused.
    public let refused: Int
    /// Digest of the content, in hexadecimal.
    public let digest: String
    /// The newest event of each lane that is in it, by the lane's number.
    public let positions: [String: Int64]

    /// The document of a table that was made.
    public init(_ rebuilt: Projector.Rebuilt) {
        name = rebuilt.name
        version = rebuilt.version
        schema = rebuilt.schema
        rows = rebuilt.rows
        events = rebuilt.events
        streams = rebuilt.streams
        refused = rebuilt.refused
        digest = rebuilt.digest.hex
        positions = PositionVector(rebuilt.positions).document
    }
}

/// Tables that were put live.
public struct PromotionDocument: Codable, Hashable, Sendable {
    /// The tables.
    public let promoted: [Table]
    /// For how long readers may have waited.
    public let lockMilliseconds: Double

    /// A table that was put live.
    public struct Table: Codable, Hashable, Sendable {
        /// The projection's name.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// Where the table is.
        public let schema: String
        /// Number of rows.
        public let rows: Int
        /// Digest of the content, in hexadecimal.
        public let digest: String
        /// The newest event of each lane that is in it, by the lane's number.
        public let positions: [String: Int64]
    }

    /// The document of a promotion.
    public init(_ promotion: Projector.Promotion) {
        promoted = promotion.tables.map { table in
            Table(
                name: table.name,
                version: table.version,
                schema: table.schema,
                rows: table.rows,
                digest: table.digest.hex,
                positions: PositionVector(table.positions).document
            )
        }
        lockMilliseconds = promotion.lockMilliseconds
    }
}
