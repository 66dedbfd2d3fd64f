import CPostgres

/// The rows a statement returned, in binary format.
///
/// Immutable, and freed with the last reference; libpq allows several threads to read one result.
public final class PostgresRows: Sendable {
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// The number of rows.
    public let count: Int

    /// The number of columns; 0 for a statement that returns no rows.
    public let columnCount: Int

    /// How many rows the statement inserted, updated, deleted or returned.
    public let affectedRows: Int64

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer) {
        pointer = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
        affectedRows = Int64(String(cString: PQcmdTuples(result))) ?? 0
    }

    deinit { PQclear(pointer) }

    /// The index of the first column of that name.
    ///
    /// Compares exactly, without folding case. Throws `misuse` if there is none.
    public func columnIndex(_ name: String) throws(PostgresError) -> Int {
        for column in 0..<columnCount {
            if let found = PQfname(pointer, Int32(column)), name == String(cString: found) {
                return column
            }
        }
        throw PostgresError(
            .misuse,
            "The result has no column named \(name). Name it in the statement with AS."
        )
    }

    /// The single row of a result.
    ///
    /// Throws `misuse` if there is none or more than one.
    public func single() throws(PostgresError) -> PostgresRow {
        guard count == 1 else {
            throw PostgresError(
                .misuse,
                "The result has \(count) rows; exactly one was expected."
            )
        }
        return self[0]
    }

    fileprivate func withField<R>(
        row: Int,
        column: Int,
        _ body: (PostgresType?, UnsafeRawBufferPointer?) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        guard row >= 0, row < count, column >= 0, column < columnCount else {
            throw PostgresError(
                .misuse,
                "There is no row \(row), column \(column) in a result of \(count) rows and "
                    + "\(columnCount) columns."
            )
        }
        let (row, column) = (Int32(row), Int32(column))
        guard PQfformat(pointer, column) == 1 else {
            throw PostgresError(.protocolViolation, "Column \(column) is not in binary format.")
        }
        let type = PostgresType(rawValue: PQftype(pointer, column))
        guard PQgetisnull(pointer, row, column) == 0 else { return try body(type, nil) }
        let length = Int(PQgetlength(pointer, row, column))
        // The pointer belongs to the result, which must outlive the body.
        return try withExtendedLifetime(self) { () throws(PostgresError) in
            let bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(pointer, row, column),
                count: length
            )
            return try body(type, bytes)
        }
    }
}

extension PostgresRows: RandomAccessCollection {
    /// The index of the first row.
    public var startIndex: Int { 0 }

    /// The index after the last row.
    public var endIndex: Int { count }

    /// One row; for an index past the last row, its accessors throw.
    public subscript(row: Int) -> PostgresRow { PostgresRow(rows: self, index: row) }
}

/// One row of a result; it keeps the result alive.
public struct PostgresRow: PostgresFields, Sendable {
    let rows: PostgresRows
    let index: Int

    /// The number of columns.
    public var fieldCount: Int { rows.columnCount }

    /// Passes the type and the bytes of a field, nil for null.
    public func withField<R>(
        _ column: Int,
        _ body: (PostgresType?, UnsafeRawBufferPointer?) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        try rows.withField(row: index, column: column, body)
    }
}
