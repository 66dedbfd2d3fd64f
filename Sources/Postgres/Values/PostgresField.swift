/// One field in binary format: its bytes, and what is known of its type.
///
/// Of one concrete type, whatever it is a field of: accessors that are generic over the kind of row
/// look up their types at run time, which took a tenth of reading a row.
package struct PostgresField {
    /// Its number, for messages.
    let column: Int
    /// Nil in a COPY, which contains no types.
    package let type: PostgresType?
    /// Nil for null; valid only as long as what the field belongs to.
    package let bytes: UnsafeRawBufferPointer?

    func bool() throws(PostgresError) -> Bool? {
        guard let bytes = try bytes("bool", type == .bool) else { return nil }
        guard bytes.count == 1 else { throw mismatch("bool") }
        return bytes[0] != 0
    }

    func int4() throws(PostgresError) -> Int32? {
        guard let bytes = try bytes("int4", type == .int4 || type == .int2) else { return nil }
        guard let number = bytes.integer.flatMap({ Int32(exactly: $0) }) else {
            throw mismatch("int4")
        }
        return number
    }

    func int8() throws(PostgresError) -> Int64? {
        guard let bytes = try bytes("integer", isInteger) else { return nil }
        guard let number = bytes.integer else { throw mismatch("integer") }
        return number
    }

    func text() throws(PostgresError) -> String? {
        guard let bytes = try bytes("text", isText) else { return nil }
        let start = type == .jsonb ? 1 : 0
        guard let text = String(validating: bytes.dropFirst(start), as: UTF8.self) else {
            throw mismatch("text")
        }
        return text
    }

    func bytea() throws(PostgresError) -> [UInt8]? {
        try bytes("bytea", type == .bytea).map { [UInt8]($0) }
    }

    func uuid() throws(PostgresError) -> [UInt8]? {
        guard let bytes = try bytes("uuid", type == .uuid) else { return nil }
        guard bytes.count == 16 else { throw mismatch("uuid") }
        return [UInt8](bytes)
    }

    func timestamptz() throws(PostgresError) -> Int64? {
        guard let bytes = try bytes("timestamptz", type == .timestamptz) else { return nil }
        guard bytes.count == 8 else { throw mismatch("timestamptz") }
        return BinaryFormat.unixMicroseconds(fromPostgres: bytes.bigEndian(at: 0))
    }
}

extension PostgresField {
    func boolArray() throws(PostgresError) -> [Bool?]? {
        try array("boolArray", .boolArray, of: .bool) { $0.count == 1 ? $0[0] != 0 : nil }
    }

    func int4Array() throws(PostgresError) -> [Int32?]? {
        try array("int4Array", .int4Array, of: .int4) { $0.count == 4 ? $0.bigEndian(at: 0) : nil }
    }

    func int8Array() throws(PostgresError) -> [Int64?]? {
        try array("int8Array", .int8Array, of: .int8) { $0.count == 8 ? $0.bigEndian(at: 0) : nil }
    }

    func textArray() throws(PostgresError) -> [String?]? {
        try array("textArray", .textArray, of: .text) { String(validating: $0, as: UTF8.self) }
    }

    func byteaArray() throws(PostgresError) -> [[UInt8]?]? {
        try array("byteaArray", .byteaArray, of: .bytea) { [UInt8]($0) }
    }

    private func array<V>(
        _ kind: StaticString,
        _ type: PostgresType,
        of element: PostgresType,
        _ decode: (UnsafeRawBufferPointer) -> V?
    ) throws(PostgresError) -> [V?]? {
        guard let bytes = try bytes(kind, self.type == type) else { return nil }
        guard let values = ArrayFormat.decode(bytes, of: element, decode) else {
            throw mismatch(kind)
        }
        return values
    }
}

extension PostgresField {
    /// The error of an accessor that expects a value.
    static func isNull(_ column: Int) -> PostgresError {
        PostgresError(
            .unexpectedNull,
            "Column \(column) is null, but a value is expected. Read it with the accessor whose "
                + "name ends in IfPresent."
        )
    }

    // The bytes, if the type is accepted as one of that kind, or unknown; nil for null.
    private func bytes(
        _ kind: StaticString,
        _ isAccepted: @autoclosure () -> Bool
    ) throws(PostgresError) -> UnsafeRawBufferPointer? {
        guard let bytes else { return nil }
        guard type == nil || isAccepted() else { throw mismatch(kind) }
        return bytes
    }

    private var isInteger: Bool {
        type == .int8 || type == .int4 || type == .int2 || type == .oid
    }

    private var isText: Bool {
        switch type {
        case .text, .varchar, .bpchar, .name, .json, .jsonb: true
        default: false
        }
    }

    private func mismatch(_ kind: StaticString) -> PostgresError {
        let found = type.map { "type \($0.rawValue)" } ?? "bytes"
        return PostgresError(
            .typeMismatch,
            "Column \(column) holds \(found) of \(bytes?.count ?? 0) bytes, which cannot be read as "
                + "\(kind). Cast it in the statement, or use the accessor of its type."
        )
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
