package import Events
package import Projector

/// Tables that were promoted.
package struct PromotionDocument: Codable, Hashable, Sendable {
    /// The tables.
    package let promoted: [Table]
    /// The longest time that readers may have waited, in milliseconds.
    package let lockMilliseconds: Double

    /// A table that was promoted: as one that was built, without what it was folded from.
    package struct Table: Codable, Hashable, Sendable {
        /// The projection's name.
        package let name: String
        /// The version of the fold.
        package let version: Int
        /// The schema with the table.
        package let schema: String
        /// Number of rows.
        package let rows: Int
        /// Digest of the content.
        package let digest: Digest
        /// The newest event of each lane that it includes, by the lane's number.
        package let positions: [Int: Int64]
    }

    /// The document of a promotion.
    package init(_ promotion: Projector.Promotion) {
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
