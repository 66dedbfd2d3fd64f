internal import Events
internal import Postgres
internal import Projections

/// Maintains `refused_stream`: the subscriptions without rows in a table, and why.
enum RefusedStreams {
    private static let deletion = String(sql: embeddedFile("refusals-deletion.sql"))
    private static let insertion = String(sql: embeddedFile("refusals-insertion.sql"))

    /// The statements that keep `refused_stream` consistent with a table.
    static func statements(
        _ change: TableChanges,
        of part: ProjectionPart
    ) -> [PostgresStatement] {
        let place: [PostgresValue] = [
            .int4(Int32(part.lane)), .text(part.schema), .text(part.name),
        ]
        var statements: [PostgresStatement] = []
        if !change.readmitted.isEmpty {
            statements.append(PostgresStatement(deletion, place + streams(change.readmitted)))
        }
        if !change.refused.isEmpty {
            statements.append(
                PostgresStatement(insertion, place + refusals(change.refused))
            )
        }
        return statements
    }

    /// The columns of `row`.
    static let columns = """
        lane, build_schema, name, environment, original_transaction_id, lane_offset, reason
        """

    /// A refusal as a row for COPY.
    static func row(
        _ refused: RefusedStream,
        lane: Int,
        schema: String,
        name: String
    ) -> [PostgresValue] {
        [
            .int4(Int32(lane)), .text(schema), .text(name),
            .text(refused.stream.environment.word),
            .text(refused.stream.originalTransactionId),
            .int8(refused.refusal.position.offset), .text(refused.refusal.reason),
        ]
    }

    private static func refusals(_ refused: [RefusedStream]) -> [PostgresValue] {
        streams(refused.map(\.stream)) + [
            .int8Array(refused.map(\.refusal.position.offset)),
            .textArray(refused.map(\.refusal.reason)),
        ]
    }

    private static func streams(_ streams: [StreamID]) -> [PostgresValue] {
        [
            .textArray(streams.map(\.environment.word)),
            .textArray(streams.map(\.originalTransactionId)),
        ]
    }
}
