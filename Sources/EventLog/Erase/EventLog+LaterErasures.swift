public import Events
internal import Postgres

extension EventLog {
    /// The subscriptions of which something was erased after given offsets.
    ///
    /// What tables at these offsets contain of them can no longer be folded from the log. Memory
    /// grows with the number of these subscriptions.
    ///
    /// - Parameter offsets: The offset of each lane that counts; other lanes are left out.
    /// - Returns: The subscriptions.
    /// - Throws: `databaseUnavailable`.
    public func streamsErased(
        after offsets: [Int: Int64]
    ) async throws(EventLogError) -> Set<StreamID> {
        let lanes = offsets.keys.sorted()
        return try await reading("look for erasures") { session in
            let rows = try await session.query(
                """
                SELECT DISTINCT e.environment, e.original_transaction_id
                FROM unnest($1::int[], $2::bigint[]) AS known (lane, lane_offset)
                JOIN ledger.event e ON e.lane = known.lane
                    AND e.lane_offset > known.lane_offset AND e.kind = 'erasure'
                """,
                [.int4Array(lanes.map(Int32.init)), .int8Array(lanes.map { offsets[$0] ?? 0 })]
            )
            var streams: Set<StreamID> = []
            for row in rows {
                streams.insert(
                    StreamID(
                        environment: StoreEnvironment(try row.text(0)),
                        originalTransactionId: try row.text(1)
                    )
                )
            }
            return streams
        }
    }
}
