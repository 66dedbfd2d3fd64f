/// A view of timelines as a table: its DDL and, for each timeline, its rows.
///
/// To add one, write the fold in your app and pass it where the ledger is opened:
/// `Ledger.open(…, projections: .standard + [Trials()])`. Only `name`, `version`, `columns`,
/// `tableSQL` and `rows` are required; the README has a complete one.
public protocol Projection: Sendable {
    /// The table's name, without a schema: lower-case letters, digits and underscores, at most 63
    /// bytes, different from the names of all other projections of the database.
    var name: String { get }
    /// Incremented whenever the same events give different rows, or the table has another
    /// structure.
    var version: Int { get }
    /// DDL of the table with a comment on it; `{{schema}}` stands for the quoted schema name.
    ///
    /// Columns get their comments from `columns.txt`, the vocabulary of all tables; a column with
    /// another name may have a comment of its own here. Its columns begin with those of
    /// `ProjectionRow.streamColumns`; the primary key over these is created after loading, for
    /// every table alike.
    var tableSQL: String { get }
    /// DDL of the indexes that are built after loading; `{{schema}}` as in `tableSQL`.
    var indexSQL: String { get }
    /// The table's own columns, in the order of a row's values: those between
    /// `ProjectionRow.streamColumns` and `positions`, which every table has.
    var columns: [String] { get }
    /// Whether it is built only when named, and then kept up to date like all others.
    var isOnRequest: Bool { get }
    /// Whether it reads when facts became known: its timelines then have `recorded`.
    ///
    /// Such a table depends on the order of arrival, and its digest on when facts were recorded.
    var readsRecordedTimes: Bool { get }
    /// The meaning of its rows when two builds of the table are compared.
    var comparison: RowComparison { get }
    /// The rows of one subscription, in order; pure.
    ///
    /// A fold that cannot interpret an event throws rather than traps: the subscription then has no
    /// row in this table and is listed in `projection.refused_stream`, and everything else is
    /// built.
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

    /// No index except that of the primary key.
    public var indexSQL: String { "" }

    /// Rows that are not equal are unrelated.
    public var comparison: RowComparison { RowComparison() }

    /// DDL of a table with these columns of its own, each given as a name and an SQL type, between
    /// those that every table has; they may be NULL; names in `columns.txt` get their comments.
    public func table(_ ownColumns: String...) -> String {
        let columns = ProjectionRow.lines(around: ownColumns.map { "    \($0) NULL" })
        return "CREATE TABLE {{schema}}.\(name) (\n\(columns)\n)"
    }
}
