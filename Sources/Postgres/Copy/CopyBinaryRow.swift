/// One row of a binary COPY, valid only during a call.
package struct CopyBinaryRow: PostgresFields, ~Copyable {
    let bytes: UnsafeRawBufferPointer
    let fields: UnsafeBufferPointer<Range<Int>?>

    /// The number of fields.
    package var fieldCount: Int { fields.count }

    /// A field; a COPY contains no types.
    package func field(_ column: Int) throws(PostgresError) -> PostgresField {
        PostgresField(column: column, type: nil, bytes: try bytes(column))
    }
}

/// The accessors for rebuilds, which read millions of rows: like those of `PostgresFields`, but
/// without the type checks for which a COPY has no data.
extension CopyBinaryRow {
    /// Reads an integer of eight bytes.
    package func int8(_ column: Int) throws(PostgresError) -> Int64 {
        guard let value = try int8IfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads an integer of eight bytes, or null.
    package func int8IfPresent(_ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = try self.bytes(column) else { return nil }
        guard bytes.count == 8 else { throw unreadable(column) }
        return bytes.bigEndian(at: 0)
    }

    /// Copies the bytes of a field.
    package func bytea(_ column: Int) throws(PostgresError) -> [UInt8] {
        guard let bytes = try self.bytes(column) else { throw PostgresField.isNull(column) }
        return [UInt8](bytes)
    }

    /// The bytes of a field, nil for null; valid as long as the row.
    package func bytes(_ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
        guard column >= 0, column < fields.count else {
            throw PostgresError(
                .misuse,
                "There is no column \(column) in a row of \(fields.count) columns."
            )
        }
        guard let range = fields[column] else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private func unreadable(_ column: Int) -> PostgresError {
        PostgresError(
            .typeMismatch,
            "Column \(column) of \(fields.count) in a row of a COPY does not have the length of "
                + "its type. Compare the columns of the COPY with those that are read."
        )
    }
}
