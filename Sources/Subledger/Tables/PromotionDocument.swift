public import Events
public import Projector

/// Tables that were promoted.
public struct PromotionDocument: Codable, Hashable, Sendable {
    /// The tables.
    public let promoted: [Table]
    /// The longest time that readers may have waited, in milliseconds.
    public let lockMilliseconds: Double

    /// A table that was promoted: as one that was built, without what it was folded from.
    public struct Table: Codable, Hashable, Sendable {
        /// The projection's name.
        public let name: String
        /// The version of the fold.
        public let version: Int
        /// The schema with the table.
        public let schema: String
        /// Number of rows.
        public let rows: Int
        /// Digest of the content.
        public let digest: Digest
        /// The newest event of each lane that it includes, by the lane's number.
        public let positions: [Int: Int64]
    }

    /// The document of a promotion.
    public init(_ promotion: Projector.Promotion) {
        promoted = promotion.tables.map { table in
            Table(
                name: table.name,
                version: table.version,
                schema: table.schema,
                rows: table.rows,
                digest: table.digest,
                positions: table.positions
            )
        }
        lockMilliseconds = promotion.lockMilliseconds
    }
}
