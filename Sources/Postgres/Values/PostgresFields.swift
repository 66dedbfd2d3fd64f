/// The fields of one row in binary format, read by type.
///
/// Every accessor throws `typeMismatch` if the field has another type, or a length that its type
/// cannot have; `unexpectedNull` if it is null and the accessor's name does not end in `IfPresent`;
/// and `misuse` if there is no such column. Columns count from 0.
package protocol PostgresFields: ~Copyable {
    /// The number of fields.
    var fieldCount: Int { get }

    /// A field; its bytes are valid only as long as these fields.
    func field(_ column: Int) throws(PostgresError) -> PostgresField
}

extension PostgresFields where Self: ~Copyable {
    /// Whether the field is null.
    package func isNull(_ column: Int) throws(PostgresError) -> Bool {
        try field(column).bytes == nil
    }

    /// Passes the bytes of a field of any type without a copy; nil for null.
    ///
    /// The pointer is valid only during the call.
    package func withBytes<R>(
        _ column: Int,
        _ body: (UnsafeRawBufferPointer?) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        defer { extendLifetime(self) }
        return try body(try field(column).bytes)
    }

    /// Reads a `boolean`.
    package func bool(_ column: Int) throws(PostgresError) -> Bool {
        guard let value = try boolIfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads a `boolean` or null.
    package func boolIfPresent(_ column: Int) throws(PostgresError) -> Bool? {
        defer { extendLifetime(self) }
        return try field(column).bool()
    }

    /// Reads an `integer` or `smallint`.
    package func int4(_ column: Int) throws(PostgresError) -> Int32 {
        guard let value = try int4IfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads an `integer`, `smallint` or null.
    package func int4IfPresent(_ column: Int) throws(PostgresError) -> Int32? {
        defer { extendLifetime(self) }
        return try field(column).int4()
    }

    /// Reads an integer of any width.
    package func int8(_ column: Int) throws(PostgresError) -> Int64 {
        guard let value = try int8IfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads an integer of any width, or null.
    package func int8IfPresent(_ column: Int) throws(PostgresError) -> Int64? {
        defer { extendLifetime(self) }
        return try field(column).int8()
    }

    /// Reads a `text` or another character type; `json` and `jsonb` as their text.
    ///
    /// A COPY does not contain types, so a `jsonb` in it must be cast to `text`.
    package func text(_ column: Int) throws(PostgresError) -> String {
        guard let value = try textIfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads a `text` or another character type, or null.
    package func textIfPresent(_ column: Int) throws(PostgresError) -> String? {
        defer { extendLifetime(self) }
        return try field(column).text()
    }

    /// Reads a `bytea`.
    package func bytea(_ column: Int) throws(PostgresError) -> [UInt8] {
        guard let value = try byteaIfPresent(column) else { throw PostgresField.isNull(column) }
        return value
    }

    /// Reads a `bytea` or null.
    package func byteaIfPresent(_ column: Int) throws(PostgresError) -> [UInt8]? {
        defer { extendLifetime(self) }
        return try field(column).bytea()
    }

    /// Reads a `timestamp with time zone` in microseconds since 1970-01-01 UTC.
    ///
    /// `infinity` and `-infinity` are `Int64.max` and `Int64.min`.
    package func timestamptz(_ column: Int) throws(PostgresError) -> Int64 {
        guard let value = try timestamptzIfPresent(column) else {
            throw PostgresField.isNull(column)
        }
        return value
    }

    /// Reads a `timestamp with time zone` in microseconds since 1970-01-01 UTC; nil for null.
    package func timestamptzIfPresent(_ column: Int) throws(PostgresError) -> Int64? {
        defer { extendLifetime(self) }
        return try field(column).timestamptz()
    }

    /// Reads a `uuid` as its sixteen bytes.
    package func uuid(_ column: Int) throws(PostgresError) -> [UInt8] {
        defer { extendLifetime(self) }
        guard let value = try field(column).uuid() else { throw PostgresField.isNull(column) }
        return value
    }
}

extension PostgresFields where Self: ~Copyable {
    /// Reads a `boolean[]` of at most one dimension; nil for null.
    package func boolArray(_ column: Int) throws(PostgresError) -> [Bool?]? {
        defer { extendLifetime(self) }
        return try field(column).boolArray()
    }

    /// Reads a `integer[]` of at most one dimension; nil for null.
    package func int4Array(_ column: Int) throws(PostgresError) -> [Int32?]? {
        defer { extendLifetime(self) }
        return try field(column).int4Array()
    }

    /// Reads a `bigint[]` of at most one dimension; nil for null.
    package func int8Array(_ column: Int) throws(PostgresError) -> [Int64?]? {
        defer { extendLifetime(self) }
        return try field(column).int8Array()
    }

    /// Reads a `text[]` of at most one dimension; nil for null.
    package func textArray(_ column: Int) throws(PostgresError) -> [String?]? {
        defer { extendLifetime(self) }
        return try field(column).textArray()
    }

    /// Reads a `bytea[]` of at most one dimension; nil for null.
    package func byteaArray(_ column: Int) throws(PostgresError) -> [[UInt8]?]? {
        defer { extendLifetime(self) }
        return try field(column).byteaArray()
    }
}
