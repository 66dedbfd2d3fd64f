internal import Events
internal import Postgres
internal import Projections

extension CopyBinaryWriter {
    /// Writes the rows of a stream, with the columns that every table has.
    mutating func rows(_ rows: [ProjectionRow], of stream: StreamID, lane: Int) {
        guard !rows.isEmpty else { return }
        let stem = Self.stem(of: stream, lane: lane)
        for index in rows.indices { row(rows[index], ordinal: index + 1, after: stem) }
    }

    /// Writes one row of a stream.
    mutating func row(_ row: ProjectionRow, ordinal: Int, of stream: StreamID, lane: Int) {
        self.row(row, ordinal: ordinal, after: Self.stem(of: stream, lane: lane))
    }

    // The fields with which every row of a stream begins, as COPY expects them: each after its
    // 32-bit byte count.
    private static func stem(of stream: StreamID, lane: Int) -> [UInt8] {
        var stem = ByteWriter()
        stem.integer(UInt32(MemoryLayout<Int32>.size))
        stem.integer(UInt32(bitPattern: Int32(lane)))
        stem.prefixed(stream.environment.word)
        stem.prefixed(stream.originalTransactionId)
        return stem.bytes
    }

    private mutating func row(_ row: ProjectionRow, ordinal: Int, after stem: [UInt8]) {
        let positions = row.positions
        row.canonicalBytes.withUnsafeBytes { bytes in
            var values = RowReader(bytes)
            let byteCountMax =
                stem.count + Self.fixedByteCountMax
                + Self.valuesByteCountMax(values.valueCount, in: bytes) + row.positionsByteCount
            self.row(
                fields: values.valueCount + ProjectionRow.streamColumns.count + 1,
                byteCountMax: byteCountMax
            ) { writer in
                // All stream columns except the last, which is the ordinal.
                stem.withUnsafeBytes {
                    writer.encoded($0, fields: ProjectionRow.streamColumns.count - 1)
                }
                writer.int4(Int32(ordinal))
                while let value = values.next() { writer.field(value) }
                writer.int8Array(count: positions.count) { positions[$0].offset }
            }
        }
    }

    /// The most bytes of a number's field.
    fileprivate static let fixedByteCountMax = CopyRowWriter.lengthByteCount + 8

    // A field has a length and may have an array header; an element of an array of numbers takes
    // half as much again as in the row, and nothing takes more.
    private static func valuesByteCountMax(
        _ valueCount: Int,
        in bytes: UnsafeRawBufferPointer
    ) -> Int {
        let headByteCount = CopyRowWriter.lengthByteCount + CopyRowWriter.arrayByteCount
        return valueCount * headByteCount + bytes.count + bytes.count / 2
    }
}

extension ProjectionRow {
    fileprivate var positionsByteCount: Int {
        CopyRowWriter.lengthByteCount + CopyRowWriter.arrayByteCount
            + positions.count * CopyBinaryWriter.fixedByteCountMax
    }
}

extension CopyRowWriter {
    /// Writes a column's value in PostgreSQL's binary format.
    fileprivate mutating func field(_ value: RowReader.Value) {
        switch value {
        case .null: null()
        case .integer(let number): int8(number)
        case .int32(let number): int4(number)
        case .boolean(let flag): bool(flag)
        case .timestamp(let instant): timestamptz(microseconds: instant.milliseconds * 1000)
        // A four-byte count and the text, which already have the format of a field.
        case .text(let counted): encoded(counted, fields: 1)
        case .integers, .texts: list(ColumnValue(value))
        }
    }

    // Decoded into values, because arrays are rare.
    private mutating func list(_ value: ColumnValue) {
        switch value {
        case .integers(let numbers): int8Array(count: numbers.count) { numbers[$0] }
        case .texts(let texts): textArray(texts)
        default: preconditionFailure("A list of a row is neither of integers nor of texts.")
        }
    }
}
