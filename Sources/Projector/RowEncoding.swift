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
        beginRow(fields: row.values.count + ProjectionRow.streamColumns.count + 1)
        field(.int4(Int32(lane)))
        field(.text(stream.environment.word))
        field(.text(stream.originalTransactionId))
        field(.int4(Int32(ordinal)))
        for value in row.values { field(PostgresValue(value)) }
        field(.int8Array(row.positions.map(\.offset)))
    }
}

extension PostgresValue {
    /// A column's value as PostgreSQL takes it.
    init(_ value: ColumnValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .int8(number)
        case .int32(let number): self = .int4(number)
        case .text(let text): self = .text(text)
        case .boolean(let flag): self = .bool(flag)
        case .timestamp(let instant):
            self = .timestamptz(microseconds: instant.milliseconds * 1000)
        case .integers(let numbers): self = .int8Array(numbers)
        case .texts(let texts): self = .textArray(texts)
        }
    }
}
