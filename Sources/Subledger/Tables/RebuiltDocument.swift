internal import Events
public import Projector

/// A table that was built from the log.
public struct RebuiltDocument: Codable, Hashable, Sendable {
    /// The projection's name.
    public let name: String
    /// The version of the fold.
    public let version: Int
    /// The schema with the table.
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
    /// The newest event of each lane that it includes, by the lane's number.
    public let positions: [String: Int64]

    /// The document of a rebuilt table.
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

/// Tables that were promoted.
public struct PromotionDocument: Codable, Hashable, Sendable {
    /// The tables.
    public let promoted: [Table]
    /// The longest time that readers may have waited, in milliseconds.
    public let lockMilliseconds: Double

    /// A table that was promoted.
    public struct Table: Codable, Hashable, Sendable {
        /// The projection's name.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// The schema with the table.
        public let schema: String
        /// Number of rows.
        public let rows: Int
        /// Digest of the content, in hexadecimal.
        public let digest: String
        /// The newest event of each lane that it includes, by the lane's number.
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
