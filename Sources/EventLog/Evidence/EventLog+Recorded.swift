public import Events
internal import Postgres

extension EventLog {
    /// Everything that the log knows about one subscription, with when it became known; empty if it
    /// knows nothing.
    ///
    /// One round trip.
    ///
    /// - Parameter stream: The subscription.
    /// - Returns: Its events and their confirmations.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    public func recordedHistory(
        of stream: StreamID
    ) async throws(EventLogError) -> RecordedHistory {
        let lane = identity.lanes[identity.lanes.lane(of: stream.originalTransactionId)]
        let parameters: [PostgresValue] = [
            .int4(Int32(lane.number)), .text(stream.environment.word),
            .text(stream.originalTransactionId),
        ]
        return try await reading("read \(stream.originalTransactionId)") { session in
            let found = try await session.pipeline([
                PostgresStatement(EventLog.recordedEvents, parameters),
                PostgresStatement(EventLog.recordedConfirmations, parameters),
            ])
            let events = try EventRows.events(in: found[0], lane: lane)
            var repetitions: [RecordedHistory.Repetition] = []
            for row in found[1] {
                let recordedAt = Instant(microseconds: try row.timestamptz(7))
                let knownFrom = try row.int8(8)
                for confirmation in try EventRows.confirmations(in: row, lane: lane) {
                    repetitions.append(
                        RecordedHistory.Repetition(
                            confirmation: confirmation,
                            recordedAt: recordedAt,
                            knownFromOffset: knownFrom
                        )
                    )
                }
            }
            return RecordedHistory(stream: stream, events: events, repetitions: repetitions)
        }
    }

    private static let recordedEvents = """
        SELECT \(EventRows.columns) FROM ledger.event e
        WHERE e.lane = $1 AND e.environment = $2 AND e.original_transaction_id = $3
        ORDER BY e.lane_offset
        """

    private static let recordedConfirmations = """
        SELECT \(ConfirmationJoin.columns) FROM ledger.confirmation c
        WHERE c.lane = $1 AND c.environment = $2 AND c.original_transaction_id = $3
        ORDER BY c.as_of_ms, c.commit_no
        """
}
