/// A view of timelines as a table: its DDL and, for each timeline, its rows.
///
/// To add one: a folder with the fold and its SQL, and a line in `Projections.swift`.
public protocol Projection: Sendable {
    /// The table's name, without a schema.
    var name: String { get }
    /// Counts up whenever the same events give other rows, or the table has another shape.
    var version: Int { get }
    /// DDL of the table with its comments; `{{schema}}` stands for the quoted schema name.
    var tableSQL: String { get }
    /// DDL of the indexes that are built after loading; `{{schema}}` as in `tableSQL`.
    var indexSQL: String { get }
    /// The table's columns in the order of a row's values.
    var columns: [String] { get }
    /// The rows of one subscription, in their order; pure.
    func rows(of timeline: Timeline) -> [ProjectionRow]
}

/// One row of a projection's table.
public struct ProjectionRow: Hashable, Sendable {
    /// A value for each column, in the projection's order.
    public let values: [ColumnValue]
    /// What the content digest covers: all but cited positions, which depend on arrival.
    public let canonicalBytes: [UInt8]

    /// A row of these values.
    public init(values: [ColumnValue], canonicalBytes: [UInt8]) {
        self.values = values
        self.canonicalBytes = canonicalBytes
    }
}

/// A value as PostgreSQL will hold it.
public enum ColumnValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A `bigint`.
    case integer(Int64)
    /// An `integer`.
    case int32(Int32)
    /// A `text`.
    case text(String)
    /// A `bigint[]` without NULLs.
    case integers([Int64])
}
