/// A view of timelines as a table: its DDL and, for each timeline, its rows.
///
/// To add one: a folder with the fold and its SQL, and a line in `Projections.swift`. Only `name`,
/// `version`, `columns`, `tableSQL` and `rows` must be written; the README has a whole one.
public protocol Projection: Sendable {
    /// The table's name, without a schema.
    var name: String { get }
    /// Counts up whenever the same events give other rows, or the table has another shape.
    var version: Int { get }
    /// DDL of the table with a comment on it; `{{schema}}` stands for the quoted schema name.
    ///
    /// Columns get their comments from `columns.txt`, the vocabulary of all tables; a column of a
    /// name that is not in it may have a comment of its own here.
    /// Its columns begin with those of `ProjectionRow.streamColumns`; the primary key over these is
    /// made after loading, for every table alike.
    var tableSQL: String { get }
    /// DDL of the indexes that are built after loading; `{{schema}}` as in `tableSQL`.
    var indexSQL: String { get }
    /// The table's own columns, in the order of a row's values: those between
    /// `ProjectionRow.streamColumns` and `positions`, which every table has.
    var columns: [String] { get }
    /// Whether it is built only where it is named, and from then on like all others.
    var isOnRequest: Bool { get }
    /// Whether it reads when facts became known: its timelines then have `recorded`.
    ///
    /// Such a table depends on the order of arrival, and its digest on when facts were recorded.
    var readsRecordedTimes: Bool { get }
    /// What its rows mean when two builds of the table are compared.
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

extension Projection {
    /// Built with all others.
    public var isOnRequest: Bool { false }

    /// Only what is known now.
    public var readsRecordedTimes: Bool { false }

    /// No index but the primary key's.
    public var indexSQL: String { "" }

    /// Rows that are not equal have nothing in common.
    public var comparison: RowComparison { RowComparison() }

    /// DDL of a table with these columns of its own, each its name and its SQL type, between those
    /// that every table has; they may be NULL; names of `columns.txt` bring
    /// their comments.
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
