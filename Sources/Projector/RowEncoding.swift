internal import Events
internal import Postgres
internal import Projections

extension CopyBinaryWriter {
    /// Writes the rows of a stream, with the columns that every table has.
    mutating func rows(_ rows: [ProjectionRow], of stream: StreamID, lane: Int) {
        for (ordinal, row) in rows.enumerated() {
            self.row(row, ordinal: ordinal + 1, of: stream, lane: lane)
        }
    }

    /// Writes one row of a stream.
    mutating func row(_ row: ProjectionRow, ordinal: Int, of stream: StreamID, lane: Int) {
        let environment = stream.environment.word
        let id = stream.originalTransactionId
        let streamByteCount = Self.fixedByteCountMax * 4 + environment.utf8.count + id.utf8.count
        let byteCountMax = row.values.reduce(streamByteCount + row.positionsByteCount) {
            $0 + $1.byteCountMax
        }
        self.row(
            fields: row.values.count + ProjectionRow.streamColumns.count + 1,
            byteCountMax: byteCountMax
        ) { writer in
            writer.int4(Int32(lane))
            writer.text(environment)
            writer.text(id)
            writer.int4(Int32(ordinal))
            for value in row.values { writer.field(value) }
            let positions = row.positions
            writer.int8Array(count: positions.count) { positions[$0].offset }
        }
    }

    /// The bytes of a number's field, at most.
    fileprivate static let fixedByteCountMax = CopyRowWriter.lengthByteCount + 8
}

extension ProjectionRow {
    fileprivate var positionsByteCount: Int {
        CopyRowWriter.lengthByteCount + CopyRowWriter.arrayByteCount
            + positions.count * CopyBinaryWriter.fixedByteCountMax
    }
}

extension ColumnValue {
    /// The bytes of its field, at most.
    fileprivate var byteCountMax: Int {
        switch self {
        case .null, .integer, .int32, .boolean, .timestamp: CopyBinaryWriter.fixedByteCountMax
        case .text(let text): CopyRowWriter.lengthByteCount + text.utf8.count
        case .integers(let numbers):
            CopyRowWriter.lengthByteCount + CopyRowWriter.arrayByteCount
                + numbers.count * CopyBinaryWriter.fixedByteCountMax
        case .texts(let texts):
            texts.reduce(CopyRowWriter.lengthByteCount + CopyRowWriter.arrayByteCount) {
                $0 + CopyRowWriter.lengthByteCount + $1.utf8.count
            }
        }
    }
}

extension CopyRowWriter {
    /// Writes a column's value as PostgreSQL takes it.
    fileprivate mutating func field(_ value: ColumnValue) {
        switch value {
        case .null: null()
        case .integer(let number): int8(number)
        case .int32(let number): int4(number)
        case .text(let text): self.text(text)
        case .boolean(let flag): bool(flag)
        case .timestamp(let instant): timestamptz(microseconds: instant.milliseconds * 1000)
        case .integers(let numbers): int8Array(count: numbers.count) { numbers[$0] }
        case .texts(let texts): textArray(texts)
        }
    }
}
