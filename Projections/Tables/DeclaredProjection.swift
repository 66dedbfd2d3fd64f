internal import Events

/// A row of a fold that a table stores.
protocol CausedRow {
    /// The events that caused it, ascending, without duplicates: the table's last column.
    var positions: [Position] { get }
}

/// A projection that declares its columns once: the DDL of its table and the values of its rows
/// follow from them.
protocol DeclaredProjection: Projection {
    associatedtype Row: CausedRow

    /// DDL of the table, in which `{{columns}}` stands for the lines of all columns and
    /// `{{table}}` for its name.
    var definition: [UInt8] { get }
    /// DDL of its indexes.
    var indexes: [UInt8] { get }

    /// Visits the table's own columns, in order.
    ///
    /// - Parameters:
    ///   - column: The visitor.
    ///   - row: The row; nothing but the values of columns may read it, because a list of columns
    ///     has none.
    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<Row>
    )

    /// The rows of one subscription, in order; pure.
    func folded(_ timeline: Timeline, _ context: FoldContext) throws(FoldRefusal) -> [Row]
}

extension DeclaredProjection {
    var columns: [String] { list.map(\.name) }

    var tableSQL: String { tableSQL(comment: "") }

    var indexSQL: String { String(sql: indexes) }

    /// The table's DDL, if its definition serves for several tables, with what only this one has.
    func tableSQL(words: String = "", constraints: String = "", comment: String) -> String {
        String(
            sql: definition,
            filling: [
                "words": words, "constraints": constraints, "comment": comment, "table": name,
                "columns": ProjectionRow.lines(around: list.map { "    \($0.name) \($0.type)" }),
            ]
        )
    }

    private var list: [(name: String, type: String)] {
        guard let none = UnsafePointer<Row>(bitPattern: MemoryLayout<Row>.alignment) else {
            preconditionFailure("an alignment is not zero")
        }
        var list = ColumnList()
        declare(&list, of: none)
        return list.columns
    }

    func rows(
        of timeline: Timeline,
        in context: FoldContext
    ) throws(FoldRefusal) -> [ProjectionRow] {
        var writer = RowWriter()
        return try folded(timeline, context).map { row(of: $0, &writer) }
    }

    /// A row as stored in the table.
    func row(of row: Row, _ writer: inout RowWriter) -> ProjectionRow {
        withUnsafePointer(to: row) { declare(&writer, of: $0) }
        return writer.row(citing: row.positions)
    }
}

extension UnsafePointer {
    /// Where a row stores a row of another table, whose columns it has too.
    func stored<Part>(_ part: KeyPath<Pointee, Part>) -> UnsafePointer<Part> {
        guard let place = pointer(to: part) else {
            preconditionFailure("only a stored property has a place")
        }
        return place
    }
}
