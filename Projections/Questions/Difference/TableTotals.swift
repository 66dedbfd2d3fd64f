/// How many rows and subscriptions changed in one table, by kind.
package struct TableTotals: Sendable {
    /// The projection's name.
    package let name: String
    /// The number of rows that changed, each counted once.
    package private(set) var rowsChanged = 0
    /// The number of subscriptions with such rows, or with rows in another order.
    package private(set) var streamsChanged = 0

    private let kinds: [String]
    private let columns: [String]
    private var counts: [Count]
    private var columnRows: [Int]

    /// The counts for one kind.
    package struct Count: Codable, Hashable, Sendable {
        /// Rows; one that changed in several ways counts in each.
        package internal(set) var rows = 0
        /// Subscriptions with such rows.
        package internal(set) var streams = 0
    }

    init(_ table: ComparedTable) {
        name = table.name
        kinds = table.kinds
        columns = table.columns
        counts = table.kinds.map { _ in Count() }
        columnRows = table.columns.map { _ in 0 }
    }

    /// The counts by kind, in the order of `ComparedTable.kinds`; kinds without a change are left
    /// out.
    package var changes: [(kind: String, count: Count)] {
        zip(kinds, counts).filter { $1.rows > 0 }.map { ($0, $1) }
    }

    /// The number of matching rows in which a column's value differs, in the order of columns;
    /// columns without one are left out.
    package var changedColumns: [(column: String, rows: Int)] {
        zip(columns, columnRows).filter { $1 > 0 }.map { ($0, $1) }
    }

    mutating func add(_ changed: ChangedRows) {
        var rowsByKind = [Int](repeating: 0, count: kinds.count)
        for row in changed.rows {
            for kind in row.kinds { rowsByKind[kind] += 1 }
            for column in row.columns { columnRows[column] += 1 }
        }
        rowsByKind[changed.table.reordered] += changed.reordered
        for (kind, rows) in rowsByKind.enumerated() where rows > 0 {
            counts[kind].rows += rows
            counts[kind].streams += 1
        }
        rowsChanged += changed.rows.count
        streamsChanged += 1
    }

    mutating func add(_ other: TableTotals) {
        rowsChanged += other.rowsChanged
        streamsChanged += other.streamsChanged
        for kind in counts.indices {
            counts[kind].rows += other.counts[kind].rows
            counts[kind].streams += other.counts[kind].streams
        }
        for column in columnRows.indices { columnRows[column] += other.columnRows[column] }
    }
}
