/// Writes the bytes of `COPY … (FORMAT BINARY)`: header, rows, trailer.
package struct CopyBinaryWriter: Sendable {
    static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]

    /// Signature, flags and the length of the header extension, which is never used.
    static let headerBytes = 19

    /// PostgreSQL's limit on the columns of a table.
    package static let fieldsMax = 1600

    private var bytes: [UInt8] = []
    private var fieldsMissing = 0

    /// Begins with the header.
    package init() {
        bytes.append(contentsOf: Self.signature)
        bytes.append(contentsOf: [UInt8](repeating: 0, count: 8))
    }

    /// Begins without the header: for one of several writers of a COPY, whose first chunk is
    /// `header` and whose last is `trailer`.
    package static func rowsOnly() -> CopyBinaryWriter {
        var writer = CopyBinaryWriter()
        writer.bytes = []
        return writer
    }

    /// The bytes at the start of a COPY.
    package static var header: [UInt8] { CopyBinaryWriter().bytes }

    /// The bytes at the end of a COPY.
    package static let trailer: [UInt8] = [0xFF, 0xFF]

    /// Begins a row of that many fields.
    ///
    /// Precondition: the previous row is complete, and there are at most ``fieldsMax`` fields.
    package mutating func beginRow(fields: Int) {
        requireCompleteRow()
        precondition(
            fields >= 0 && fields <= Self.fieldsMax,
            "A row of COPY has \(fields) fields; at most \(Self.fieldsMax) are allowed."
        )
        bytes.appendBigEndian(Int16(fields))
        fieldsMissing = fields
    }

    /// Writes the next field of the row.
    ///
    /// COPY does not convert: the value's type must be the column's own.
    package mutating func field(_ value: PostgresValue) {
        precondition(fieldsMissing > 0, "A row of COPY got more fields than it announced.")
        fieldsMissing -= 1
        bytes.appendField { value.encode(into: &$0) }
    }

    /// Writes a whole row.
    package mutating func row(_ values: [PostgresValue]) {
        beginRow(fields: values.count)
        for value in values { field(value) }
    }

    /// Writes a whole row of at most that many bytes, straight into memory: for millions of rows.
    ///
    /// Precondition: `fill` writes all fields, and no more bytes than announced.
    package mutating func row(
        fields: Int,
        byteCountMax: Int,
        _ fill: (inout CopyRowWriter) -> Void
    ) {
        beginRow(fields: fields)
        withUnsafeTemporaryAllocation(byteCount: byteCountMax, alignment: 8) { memory in
            var row = CopyRowWriter(memory, fieldsMissing: fields)
            fill(&row)
            fieldsMissing = row.fieldsMissing
            bytes.append(contentsOf: memory[..<row.byteCount])
        }
        requireCompleteRow()
    }

    /// Writes the trailer, after the last row.
    package mutating func finish() {
        requireCompleteRow()
        bytes.append(contentsOf: Self.trailer)
    }

    /// How many bytes are ready to be taken.
    package var readyByteCount: Int { bytes.count }

    /// Returns what was written since the last call; a chunk may end within a row.
    package mutating func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        // The next chunk will be about as long.
        taken.reserveCapacity(bytes.count)
        swap(&taken, &bytes)
        return taken
    }

    /// Moves the written bytes into a buffer, keeping the memory for the next rows.
    mutating func drain(into buffer: inout [UInt8]) {
        buffer.append(contentsOf: bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    private func requireCompleteRow() {
        precondition(fieldsMissing == 0, "A row of COPY lacks \(fieldsMissing) fields.")
    }
}
