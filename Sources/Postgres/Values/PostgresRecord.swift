/// The fields of a composite value in binary format, as `record_send` produces it.
///
/// Unlike a COPY it contains the type of each field, so one column can carry rows of several
/// shapes. It borrows its bytes and must not outlive them.
package struct PostgresRecord: PostgresFields, ~Copyable {
    private let bytes: UnsafeRawBufferPointer
    private var fields: [(type: PostgresType, range: Range<Int>?)] = []

    /// Parses a value; throws `protocolViolation` if the bytes are not a record.
    package init(_ bytes: UnsafeRawBufferPointer) throws(PostgresError) {
        self.bytes = bytes
        guard bytes.count >= 4 else { throw Self.violation("it is too short") }
        let count = bytes.bigEndian(at: 0, as: Int32.self)
        // Every field takes at least eight bytes, so a forged count cannot reserve much memory.
        guard count >= 0, Int(count) <= (bytes.count - 4) / 8 else {
            throw Self.violation("it has fewer fields than it declares")
        }
        fields.reserveCapacity(Int(count))
        var offset = 4
        for _ in 0..<count {
            guard bytes.count - offset >= 8 else { throw Self.violation("a field is cut off") }
            let type = PostgresType(rawValue: bytes.bigEndian(at: offset))
            let length = Int(bytes.bigEndian(at: offset + 4, as: Int32.self))
            offset += 8
            guard length >= 0 else {
                fields.append((type, nil))
                continue
            }
            guard length <= bytes.count - offset else {
                throw Self.violation("a field is cut off")
            }
            fields.append((type, offset..<offset + length))
            offset += length
        }
        guard offset == bytes.count else { throw Self.violation("bytes follow its last field") }
    }

    /// The number of fields.
    package var fieldCount: Int { fields.count }

    /// The type of a field; nil if there is no such field.
    package func type(of column: Int) -> PostgresType? {
        fields.indices.contains(column) ? fields[column].type : nil
    }

    /// A field; its bytes are valid only as long as those of the record.
    package func field(_ column: Int) throws(PostgresError) -> PostgresField {
        guard fields.indices.contains(column) else {
            throw PostgresError(
                .misuse,
                "There is no field \(column) in a record of \(fields.count) fields."
            )
        }
        let (type, range) = fields[column]
        return PostgresField(
            column: column,
            type: type,
            bytes: range.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
        )
    }

    private static func violation(_ what: String) -> PostgresError {
        PostgresError(
            .protocolViolation,
            "The bytes are not a record: \(what). Expected the whole result of record_send."
        )
    }
}
