internal import Events
internal import Postgres
internal import Projections

/// Removes the rows of streams that can no longer be folded as before, because something of them
/// was erased.
///
/// The digest of a table is maintained row by row, so rows are read before they are deleted.
struct ClearedRows {
    private let part: ProjectionPart
    private let projection: any Projection

    init(_ part: ProjectionPart, _ projection: any Projection) {
        self.part = part
        self.projection = projection
    }

    /// Deletes all rows of these streams; returns the change of the table's content, to be added.
    func delete(
        _ streams: [StreamID],
        in session: isolated PostgresSession
    ) throws(PostgresError) -> ProjectionDigest {
        var lost = ProjectionDigest()
        guard !streams.isEmpty else { return lost }
        var rows: [StreamID: [ProjectionRow]] = [:]
        let deleted = try session.query(
            """
            WITH gone AS (
                DELETE FROM \(part.table) t
                USING unnest($2::text[], $3::text[]) AS d (environment, id)
                WHERE t.lane = $1 AND t.environment = d.environment
                    AND t.original_transaction_id = d.id
                RETURNING t.*)
            SELECT environment, original_transaction_id, \(projection.columns.joined(separator: ", "))
            FROM gone ORDER BY environment, original_transaction_id, ordinal
            """,
            [
                .int4(Int32(part.lane)), .textArray(streams.map(\.environment.word)),
                .textArray(streams.map(\.originalTransactionId)),
            ]
        )

        let columnCount = projection.columns.count
        for row in deleted {
            let stream = StreamID(
                environment: StoreEnvironment(try row.text(0)),
                originalTransactionId: try row.text(1)
            )
            var values: [ColumnValue] = []
            for column in 0..<columnCount { values.append(try row.value(column + 2)) }
            rows[stream, default: []].append(ProjectionRow(values: values, positions: []))
        }
        for (stream, rows) in rows { lost.remove(rows, of: stream) }
        return lost
    }
}

extension PostgresRow {
    /// A column's value as a projection wrote it.
    fileprivate func value(_ column: Int) throws(PostgresError) -> ColumnValue {
        let field = try field(column)
        return switch field.bytes == nil ? nil : field.type {
        case .bool?: .boolean(try bool(column))
        case .int4?: .int32(try int4(column))
        case .int8?: .integer(try int8(column))
        case .timestamptz?: .timestamp(Instant(milliseconds: try timestamptz(column) / 1000))
        case .int8Array?: .integers(try int8Array(column)?.compactMap { $0 } ?? [])
        case .textArray?: .texts(try textArray(column)?.compactMap { $0 } ?? [])
        case nil: .null
        default: .text(try text(column))
        }
    }
}
