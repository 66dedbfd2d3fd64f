import CPostgres

/// The rows a statement returned, in binary format.
///
/// Immutable, and freed with the last reference; libpq allows several threads to read one result.
package final class PostgresRows: Sendable {
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// The number of rows.
    package let count: Int

    /// The number of columns; 0 for a statement that returns no rows.
    package let columnCount: Int

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer) {
        pointer = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(pointer) }

    /// The single row of a result.
    ///
    /// Throws `misuse` if there is none or more than one.
    package func single() throws(PostgresError) -> PostgresRow {
        guard count == 1 else {
            throw PostgresError(
                .misuse,
                "The result has \(count) rows; exactly one was expected."
            )
        }
        return self[0]
    }

    fileprivate func field(row: Int, column: Int) throws(PostgresError) -> PostgresField {
        guard row >= 0, row < count, column >= 0, column < columnCount else {
            throw PostgresError(
                .misuse,
                "There is no row \(row), column \(column) in a result of \(count) rows and "
                    + "\(columnCount) columns."
            )
        }
        let number = column
        let (row, column) = (Int32(row), Int32(column))
        guard PQfformat(pointer, column) == 1 else {
            throw PostgresError(.protocolViolation, "Column \(column) is not in binary format.")
        }
        let isNull = PQgetisnull(pointer, row, column) != 0
        return PostgresField(
            column: number,
            type: PostgresType(rawValue: PQftype(pointer, column)),
            bytes: isNull
                ? nil
                : UnsafeRawBufferPointer(
                    start: PQgetvalue(pointer, row, column),
                    count: Int(PQgetlength(pointer, row, column))
                )
        )
    }
}

extension PostgresRows: RandomAccessCollection {
    /// The index of the first row.
    package var startIndex: Int { 0 }

    /// The index after the last row.
    package var endIndex: Int { count }

    /// One row; for an index past the last row, its accessors throw.
    package subscript(row: Int) -> PostgresRow { PostgresRow(rows: self, index: row) }
}

/// One row of a result; it keeps the result alive.
package struct PostgresRow: PostgresFields, Sendable {
    let rows: PostgresRows
    let index: Int

    /// The number of columns.
    package var fieldCount: Int { rows.columnCount }

    /// A field; its bytes are valid only as long as the result.
    package func field(_ column: Int) throws(PostgresError) -> PostgresField {
        try rows.field(row: index, column: column)
    }
}
