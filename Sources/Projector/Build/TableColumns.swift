internal import Events
internal import Postgres
internal import Projections

/// The columns of a table in the server's catalog, in order; empty if it does not exist or is not a
/// table.
struct TableColumns: Sendable {
    let all: [Column]

    /// A column.
    struct Column: Sendable, Equatable {
        let name: String
        let type: PostgresType
        /// The type in SQL, with its constraints.
        let words: String
    }

    /// Reads the columns of a table, which is named in SQL syntax.
    init(of table: String, in session: isolated PostgresSession) throws(PostgresError) {
        var columns: [Column] = []
        for row in try session.query(TableColumns.select, [.text(table)]) {
            columns.append(
                Column(
                    name: try row.text(0),
                    type: PostgresType(rawValue: UInt32(truncatingIfNeeded: try row.int8(1))),
                    words: try row.text(2)
                )
            )
        }
        all = columns
    }

    /// The column of that name.
    func named(_ name: String) -> Column? { all.first { $0.name == name } }

    /// The names of the columns that every table has: the subscription of a row, and its causes.
    static let everywhere = ProjectionRow.streamColumns + ["positions"]

    /// The columns that the other table lacks in this form, for a message.
    func words(notIn other: TableColumns) -> String {
        let own = all.filter { !other.all.contains($0) }.map { "\($0.name) \($0.words)" }
        return own.isEmpty ? "nothing" : own.joined(separator: ", ")
    }

    /// The names of all other columns, in order.
    var ownNames: [String] {
        all.map(\.name).filter { !TableColumns.everywhere.contains($0) }
    }

    /// Whether rows of both tables can be matched and compared.
    func haveRows(comparableWith other: TableColumns) -> Bool {
        TableColumns.everywhere.allSatisfy { name in
            named(name).map { $0.type == other.named(name)?.type } ?? false
        }
    }

    private static let select = String(sql: embeddedFile("table-columns.sql"))
}
