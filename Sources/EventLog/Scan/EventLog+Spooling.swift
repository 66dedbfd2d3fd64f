internal import Events
internal import Postgres

extension EventLog {
    /// Reads into a spool the parts that no other task is reading, and waits for the rest.
    static func fill(_ spool: StreamSpool, in session: isolated PostgresSession) throws {
        guard let first = try spool.nextReading() else { return try spool.waitUntilRead() }
        do {
            try session.execute(spoolSettings)
            let writer = try SpoolWriter(spool)
            var next: ClosedRange<Int64>? = first
            while let reading = next {
                try read(reading, into: writer, of: spool, in: session)
                // The last block must be in the file before the other tasks are notified.
                try writer.finish()
                spool.hasRead()
                next = try spool.nextReading()
            }
        } catch {
            spool.fail(error)
            throw error
        }
        try spool.waitUntilRead()
    }

    private static func read(
        _ reading: ClosedRange<Int64>,
        into writer: SpoolWriter,
        of spool: StreamSpool,
        in session: isolated PostgresSession
    ) throws {
        _ = try session.copyRows(spoolSQL(reading, spool), into: Unshared(writer)) {
            try $0.value.take($1)
        }
    }

    // One process for each connection: the caller chooses the number of connections.
    private static let spoolSettings = """
        SET LOCAL max_parallel_workers_per_gather = 0;
        SET LOCAL jit = off
        """

    // Literals, because COPY takes no parameters.
    private static func spoolSQL(_ offsets: ClosedRange<Int64>, _ spool: StreamSpool) -> String {
        let more = spool.isComplete ? ", recorded_at, bundle_id, evidence_no, is_imported" : ""
        return """
            COPY (
                SELECT environment, original_transaction_id, lane_offset, as_of_ms,
                    purchase_date_ms, expires_date_ms, kind, content\(more)
                FROM ledger.event
                WHERE lane = \(spool.lane.number) AND lane_offset >= \(offsets.lowerBound)
                    AND lane_offset <= \(offsets.upperBound)
                    AND environment <> '' AND original_transaction_id <> ''
                    AND \(ScannedRow.isNotErasedLink)
            ) TO STDOUT (FORMAT BINARY)
            """
    }
}

extension StreamSpool {
    /// Provides the histories of a part, without confirmations, in the order of `StreamID`;
    /// everything must have been read.
    func withHistories(
        ofPart part: Int,
        _ body: (@escaping () throws -> StreamHistory?) throws -> Void
    ) throws {
        try withPart(part) { bytes in
            var histories = SpooledPart(bytes).histories(lane: lane, isComplete: isComplete)
            try withoutActuallyEscaping({ try histories.next() }) { try body($0) }
        }
    }
}
