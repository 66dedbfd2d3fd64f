public import Events

/// A view of timelines as a table: its DDL and, for each timeline, its rows.
///
/// To add one: a folder with the fold and its SQL, and a line in `Projections.swift`. Only `name`,
/// `version`, `columns`, `tableSQL` and `rows` must be written; the README has a whole one.
public protocol Projection: Sendable {
    /// The table's name, without a schema.
    var name: String { get }
    /// Counts up whenever the same events give other rows, or the table has another shape.
    var version: Int { get }
    /// DDL of the table with its comments; `{{schema}}` stands for the quoted schema name.
    ///
    /// Its columns begin with those of `ProjectionRow.streamColumns`; the primary key over these is
    /// made after loading, for every table alike.
    var tableSQL: String { get }
    /// DDL of the indexes that are built after loading; `{{schema}}` as in `tableSQL`.
    var indexSQL: String { get }
    /// The table's own columns, in the order of a row's values: those between
    /// `ProjectionRow.streamColumns` and `positions`, which every table has.
    var columns: [String] { get }
    /// What its rows are to somebody who compares two builds of the table.
    var comparison: RowComparison { get }
    /// The rows of one subscription, in their order; pure.
    ///
    /// A fold that cannot make sense of an event throws rather than traps: the subscription then
    /// has no row in this table and stands in `projection.refused_stream`, and all else is done.
    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow]
}

/// An event that a fold cannot make sense of.
public struct FoldRefusal: Error, Hashable, Sendable {
    /// The event.
    public let position: Position
    /// What is wrong with it, in one sentence; safe to log.
    public let reason: String

    /// A refusal of that event.
    public init(_ position: Position, _ reason: String) {
        self.position = position
        self.reason = reason
    }
}

extension Projection {
    /// No index but the primary key's.
    public var indexSQL: String { "" }

    /// Rows that are not equal have nothing in common.
    public var comparison: RowComparison { RowComparison() }

    /// DDL of a table with these columns of its own, each its name and its SQL type, between those
    /// that every table has; they may be NULL, and have no comment.
    public func table(_ ownColumns: String...) -> String {
        """
        CREATE TABLE {{schema}}.\(name) (
            lane integer NOT NULL,
            environment text COLLATE "C" NOT NULL,
            original_transaction_id text COLLATE "C" NOT NULL,
            ordinal integer NOT NULL,
            \(ownColumns.map { "\($0) NULL,\n    " }.joined())positions bigint[] NOT NULL
        )
        """
    }
}

/// What a fold may know besides events: what the operator has decided.
public struct FoldContext: Hashable, Sendable {
    /// What is sold, and was.
    public let catalogs: CatalogHistory
    /// What counts as access.
    public let policy: AccessPolicy

    /// A context with these catalogs and that policy.
    public init(catalogs: CatalogHistory = .none, policy: AccessPolicy = .current) {
        self.catalogs = catalogs
        self.policy = policy
    }
}

/// One row of a projection's table, besides the columns that say of which subscription it is.
///
/// It is its own canonical form, as the content of an event is: the bytes that the digest covers
/// are those that the table is filled from, and `values` takes them apart.
public struct ProjectionRow: Hashable, Sendable {
    /// The columns with which every table begins: the subscription, and the number of the row in
    /// it, from 1.
    public static let streamColumns = [
        "lane", "environment", "original_transaction_id", "ordinal",
    ]

    /// The row's bytes for digests: its values, not the positions.
    ///
    /// A 32-bit count, then each value: a type byte, then integers and instants (milliseconds) as
    /// 64 bits, texts with a 32-bit byte count, lists with a 32-bit count.
    public let canonicalBytes: [UInt8]
    /// The events that caused the row, ascending, each once: the last column, `positions`.
    ///
    /// They depend on the order of arrival, and are in no digest.
    public let positions: [Position]
    /// The first value, counted from 0, whose instant is beyond
    /// `ColumnValue.timestampMilliseconds`; nil where all fit into a table.
    package let unfitValue: Int?

    /// A row that was written.
    init(canonicalBytes: [UInt8], positions: [Position], unfitValue: Int?) {
        self.canonicalBytes = canonicalBytes
        self.positions = positions
        self.unfitValue = unfitValue
    }

    /// A row of these values: one for each of the projection's own columns, in their order.
    public init(values: [ColumnValue], positions: [Position]) {
        var writer = RowWriter()
        for value in values { writer.value(value) }
        self = writer.row(citing: positions)
    }

    /// A row of these values that has the causes of other rows, in any order.
    public init(_ values: ColumnValue..., causedBy causes: [Position]) {
        let positions: [Position] = causes.sorted().reduce(into: []) { unique, position in
            if unique.last != position { unique.append(position) }
        }
        self.init(values: values, positions: positions)
    }

    /// A value for each of the projection's own columns, in their order.
    public var values: [ColumnValue] {
        canonicalBytes.withUnsafeBytes { bytes in
            var reader = RowReader(bytes)
            var values: [ColumnValue] = []
            values.reserveCapacity(reader.valueCount)
            while let value = reader.next() { values.append(ColumnValue(value)) }
            return values
        }
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
    /// A `boolean`.
    case boolean(Bool)
    /// A `text`.
    case text(String)
    /// A `timestamptz`: of an instant beyond `timestampMilliseconds` the subscription is refused.
    case timestamp(Instant)
    /// A `bigint[]` without NULLs.
    case integers([Int64])
    /// A `text[]` without NULLs.
    case texts([String])
}

extension ColumnValue {
    /// The instants that a `timestamptz` holds, in milliseconds since 1970: from 4713 BC, where
    /// PostgreSQL begins, to 294247 AD, where 64 bits of microseconds end.
    public static let timestampMilliseconds: ClosedRange<Int64> =
        -210_866_803_200_000...9_223_372_036_854_775

    /// A `bigint` of milliseconds, or NULL.
    public init(milliseconds instant: Instant?) {
        self = instant.map { .integer($0.milliseconds) } ?? .null
    }

    /// A `timestamptz`, or NULL.
    public init(timestamp instant: Instant?) {
        self = instant.map { .timestamp($0) } ?? .null
    }

    /// A `text`, or NULL.
    public init(_ text: String?) {
        self = text.map { .text($0) } ?? .null
    }
}
