/// A value sent to the server in its binary format, as a parameter or a field of a COPY.
///
/// Each case may hold nil for a null of its type; ``null`` leaves the type to the server.
package enum PostgresValue: Sendable, Hashable {
    /// A null whose type the server infers.
    case null
    /// `boolean`.
    case bool(Bool?)
    /// `integer`.
    case int4(Int32?)
    /// `bigint`.
    case int8(Int64?)
    /// `text`; the server refuses a zero character.
    case text(String?)
    /// `bytea`.
    case bytea([UInt8]?)
    /// `timestamp with time zone`, in microseconds since 1970-01-01 UTC.
    ///
    /// `Int64.max` and `Int64.min` are `infinity` and `-infinity`.
    case timestamptz(microseconds: Int64?)
    /// `boolean[]`.
    case boolArray([Bool?]?)
    /// `integer[]`.
    case int4Array([Int32?]?)
    /// `bigint[]`.
    case int8Array([Int64?]?)
    /// `text[]`.
    case textArray([String?]?)
    /// `bytea[]`.
    case byteaArray([[UInt8]?]?)
    /// `uuid`, as its sixteen bytes; the server refuses any other length.
    case uuid([UInt8]?)
    /// `uuid[]`, sixteen bytes each.
    case uuidArray([[UInt8]?]?)

    /// The type that is sent to the server.
    package var type: PostgresType {
        switch self {
        case .null: .inferred
        case .bool: .bool
        case .int4: .int4
        case .int8: .int8
        case .text: .text
        case .bytea: .bytea
        case .timestamptz: .timestamptz
        case .boolArray: .boolArray
        case .int4Array: .int4Array
        case .int8Array: .int8Array
        case .textArray: .textArray
        case .byteaArray: .byteaArray
        case .uuid: .uuid
        case .uuidArray: .uuidArray
        }
    }

    /// Appends the binary format; returns false for a null, which has none.
    func encode(into bytes: inout [UInt8]) -> Bool {
        switch self {
        case .null: return false
        case .bool(let value): return bytes.appendBinary(value) { $0.append($1 ? 1 : 0) }
        case .int4(let value): return bytes.appendBinary(value) { $0.appendBigEndian($1) }
        case .int8(let value): return bytes.appendBinary(value) { $0.appendBigEndian($1) }
        case .text(let value): return bytes.appendBinary(value) { $0.append(contentsOf: $1.utf8) }
        case .bytea(let value): return bytes.appendBinary(value) { $0.append(contentsOf: $1) }
        case .timestamptz(let value):
            return bytes.appendBinary(value) {
                $0.appendBigEndian(BinaryFormat.postgresMicroseconds(fromUnix: $1))
            }
        case .boolArray(let value):
            return bytes.appendArray(value, of: .bool) { $0.append($1 ? 1 : 0) }
        case .int4Array(let value):
            return bytes.appendArray(value, of: .int4) { $0.appendBigEndian($1) }
        case .int8Array(let value):
            return bytes.appendArray(value, of: .int8) { $0.appendBigEndian($1) }
        case .textArray(let value):
            return bytes.appendArray(value, of: .text) { $0.append(contentsOf: $1.utf8) }
        case .byteaArray(let value):
            return bytes.appendArray(value, of: .bytea) { $0.append(contentsOf: $1) }
        case .uuid(let value): return bytes.appendBinary(value) { $0.append(contentsOf: $1) }
        case .uuidArray(let value):
            return bytes.appendArray(value, of: .uuid) { $0.append(contentsOf: $1) }
        }
    }
}

extension [PostgresValue] {
    /// Passes the arrays that libpq expects: count, types, values, lengths, formats.
    func withEncoded<R>(
        _ body: (
            Int32, UnsafePointer<UInt32>?, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        var bytes: [UInt8] = []
        var offsets: [Int?] = []
        var lengths: [Int32] = []
        for value in self {
            let start = bytes.count
            let isPresent = value.encode(into: &bytes)
            offsets.append(isPresent ? start : nil)
            lengths.append(Int32(clamping: bytes.count - start))
        }
        // A null pointer is SQL NULL, so even an empty value needs a valid pointer.
        bytes.append(0)
        return bytes.withUnsafeBytes { raw in
            let base = raw.bindMemory(to: CChar.self).baseAddress
            let values = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            let formats = [Int32](repeating: 1, count: count)
            return body(Int32(count), map(\.type.rawValue), values, lengths, formats)
        }
    }
}
