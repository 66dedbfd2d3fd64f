/// The fields of one row in binary format, read by type.
///
/// Every accessor throws `typeMismatch` if the field has another type, or a length that its type
/// cannot have; `unexpectedNull` if it is null and the accessor's name does not end in `IfPresent`;
/// and `misuse` if there is no such column. Columns count from 0.
public protocol PostgresFields: ~Copyable {
    /// The number of fields.
    var fieldCount: Int { get }

    /// Passes the type, if known, and the bytes of a field, nil for null.
    func withField<R>(
        _ column: Int,
        _ body: (PostgresType?, UnsafeRawBufferPointer?) throws(PostgresError) -> R
    ) throws(PostgresError) -> R
}

extension PostgresFields where Self: ~Copyable {
    /// Whether the field is null.
    public func isNull(_ column: Int) throws(PostgresError) -> Bool {
        try withField(column) { (_, bytes) throws(PostgresError) in bytes == nil }
    }

    /// Passes the bytes of a field of any type without a copy; nil for null.
    ///
    /// The pointer is valid only during the call.
    public func withBytes<R>(
        _ column: Int,
        _ body: (UnsafeRawBufferPointer?) throws(PostgresError) -> R
    ) throws(PostgresError) -> R {
        try withField(column) { (_, bytes) throws(PostgresError) in try body(bytes) }
    }

    /// Reads a `boolean`.
    public func bool(_ column: Int) throws(PostgresError) -> Bool {
        try present(column, boolIfPresent(column))
    }

    /// Reads a `boolean` or null.
    public func boolIfPresent(_ column: Int) throws(PostgresError) -> Bool? {
        try read(column, .bool) { $0.count == 1 ? $0[0] != 0 : nil }
    }

    /// Reads an `integer` or `smallint`.
    public func int4(_ column: Int) throws(PostgresError) -> Int32 {
        try present(column, int4IfPresent(column))
    }

    /// Reads an `integer`, `smallint` or null.
    public func int4IfPresent(_ column: Int) throws(PostgresError) -> Int32? {
        try read(column, .int4) { $0.integer.flatMap { Int32(exactly: $0) } }
    }

    /// Reads an integer of any width.
    public func int8(_ column: Int) throws(PostgresError) -> Int64 {
        try present(column, int8IfPresent(column))
    }

    /// Reads an integer of any width, or null.
    public func int8IfPresent(_ column: Int) throws(PostgresError) -> Int64? {
        try read(column, .integer) { $0.integer }
    }

    /// Reads a `text` or another character type; `json` and `jsonb` as their text.
    ///
    /// A COPY does not contain types, so a `jsonb` in it must be cast to `text`.
    public func text(_ column: Int) throws(PostgresError) -> String {
        try present(column, textIfPresent(column))
    }

    /// Reads a `text` or another character type, or null.
    public func textIfPresent(_ column: Int) throws(PostgresError) -> String? {
        try withField(column) { (type, bytes) throws(PostgresError) in
            guard let bytes else { return nil }
            guard type.map(FieldKind.text.accepts) ?? true else {
                throw mismatch(column, .text, type, bytes.count)
            }
            let start = type == .jsonb ? 1 : 0
            guard let text = String(validating: bytes.dropFirst(start), as: UTF8.self) else {
                throw mismatch(column, .text, type, bytes.count)
            }
            return text
        }
    }

    /// Reads a `bytea`.
    public func bytea(_ column: Int) throws(PostgresError) -> [UInt8] {
        try present(column, byteaIfPresent(column))
    }

    /// Reads a `bytea` or null.
    public func byteaIfPresent(_ column: Int) throws(PostgresError) -> [UInt8]? {
        try read(column, .bytea) { [UInt8]($0) }
    }

    /// Reads a `uuid` as its sixteen bytes.
    public func uuid(_ column: Int) throws(PostgresError) -> [UInt8] {
        try present(column, read(column, .uuid) { $0.count == 16 ? [UInt8]($0) : nil })
    }

    /// Reads a `timestamp with time zone` in microseconds since 1970-01-01 UTC.
    ///
    /// `infinity` and `-infinity` are `Int64.max` and `Int64.min`.
    public func timestamptz(_ column: Int) throws(PostgresError) -> Int64 {
        try present(column, timestamptzIfPresent(column))
    }

    /// Reads a `timestamp with time zone` in microseconds since 1970-01-01 UTC, or null.
    public func timestamptzIfPresent(_ column: Int) throws(PostgresError) -> Int64? {
        try read(column, .timestamptz) { bytes in
            guard bytes.count == 8 else { return nil }
            return BinaryFormat.unixMicroseconds(fromPostgres: bytes.bigEndian(at: 0))
        }
    }
}

extension PostgresFields where Self: ~Copyable {
    /// Reads a `boolean[]` of at most one dimension; nil for null.
    public func boolArray(_ column: Int) throws(PostgresError) -> [Bool?]? {
        try array(column, .boolArray, .bool) { $0.count == 1 ? $0[0] != 0 : nil }
    }

    /// Reads an `integer[]` of at most one dimension; nil for null.
    public func int4Array(_ column: Int) throws(PostgresError) -> [Int32?]? {
        try array(column, .int4Array, .int4) { $0.count == 4 ? $0.bigEndian(at: 0) : nil }
    }

    /// Reads a `bigint[]` of at most one dimension; nil for null.
    public func int8Array(_ column: Int) throws(PostgresError) -> [Int64?]? {
        try array(column, .int8Array, .int8) { $0.count == 8 ? $0.bigEndian(at: 0) : nil }
    }

    /// Reads a `text[]` of at most one dimension; nil for null.
    public func textArray(_ column: Int) throws(PostgresError) -> [String?]? {
        try array(column, .textArray, .text) { String(validating: $0, as: UTF8.self) }
    }

    /// Reads a `bytea[]` of at most one dimension; nil for null.
    public func byteaArray(_ column: Int) throws(PostgresError) -> [[UInt8]?]? {
        try array(column, .byteaArray, .bytea) { [UInt8]($0) }
    }

    private func array<V>(
        _ column: Int,
        _ kind: FieldKind,
        _ element: PostgresType,
        _ decode: (UnsafeRawBufferPointer) -> V?
    ) throws(PostgresError) -> [V?]? {
        try read(column, kind) { ArrayFormat.decode($0, of: element, decode) }
    }
}

extension PostgresFields where Self: ~Copyable {
    /// Reads a field that has one of the types of a kind; `decode` returns nil for wrong bytes.
    private func read<V>(
        _ column: Int,
        _ kind: FieldKind,
        _ decode: (UnsafeRawBufferPointer) -> V?
    ) throws(PostgresError) -> V? {
        try withField(column) { (type, bytes) throws(PostgresError) in
            guard let bytes else { return nil }
            guard type.map(kind.accepts) ?? true, let value = decode(bytes) else {
                throw mismatch(column, kind, type, bytes.count)
            }
            return value
        }
    }

    private func present<V>(_ column: Int, _ value: V?) throws(PostgresError) -> V {
        guard let value else {
            throw PostgresError(
                .unexpectedNull,
                "Column \(column) is null, but a value is expected. Read it with the accessor "
                    + "whose name ends in IfPresent."
            )
        }
        return value
    }

    private func mismatch(
        _ column: Int,
        _ kind: FieldKind,
        _ type: PostgresType?,
        _ length: Int
    ) -> PostgresError {
        let found = type.map { "type \($0.rawValue)" } ?? "bytes"
        return PostgresError(
            .typeMismatch,
            "Column \(column) holds \(found) of \(length) bytes, which cannot be read as \(kind). "
                + "Cast it in the statement, or use the accessor of its type."
        )
    }
}

/// The families of types that an accessor accepts.
private enum FieldKind {
    case bool
    case int4
    case integer
    case text
    case bytea
    case timestamptz
    case boolArray
    case int4Array
    case int8Array
    case textArray
    case uuid
    case byteaArray

    func accepts(_ type: PostgresType) -> Bool {
        switch self {
        case .bool: type == .bool
        case .int4: type == .int4 || type == .int2
        case .integer: type == .int8 || type == .int4 || type == .int2 || type == .oid
        case .text:
            switch type {
            case .text, .varchar, .bpchar, .name, .json, .jsonb: true
            default: false
            }
        case .bytea: type == .bytea
        case .timestamptz: type == .timestamptz
        case .boolArray: type == .boolArray
        case .int4Array: type == .int4Array
        case .int8Array: type == .int8Array
        case .textArray: type == .textArray
        case .uuid: type == .uuid
        case .byteaArray: type == .byteaArray
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A signed integer of 2, 4 or 8 bytes; nil for another length.
    fileprivate var integer: Int64? {
        switch count {
        case 2: Int64(bigEndian(at: 0, as: Int16.self))
        case 4: Int64(bigEndian(at: 0, as: Int32.self))
        case 8: bigEndian(at: 0)
        default: nil
        }
    }
}
