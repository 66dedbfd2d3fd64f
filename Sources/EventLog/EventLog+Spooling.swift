internal import Events
internal import Postgres

extension EventLog {
    /// Reads into a spool whatever nobody else is reading, and waits for the rest.
    static func fill(_ spool: StreamSpool, in session: isolated PostgresSession) throws {
        guard let first = try spool.nextReading() else { return try spool.waitUntilRead() }
        do {
            try session.execute(spoolSettings)
            let writer = try SpoolWriter(spool)
            var next: StreamSpool.Reading? = first
            while let reading = next {
                try read(reading, into: writer, of: spool, in: session)
                // What a block still holds is in the file before anybody is told of it.
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
        _ reading: StreamSpool.Reading,
        into writer: SpoolWriter,
        of spool: StreamSpool,
        in session: isolated PostgresSession
    ) throws {
        let box = UnsharedWriter(writer)
        let isOfEvents = if case .events = reading { true } else { false }
        _ = try session.copyOut(
            spoolSQL(reading, spool),
            into: box,
            rows: { box, row throws(Thrown) in
                do {
                    if isOfEvents {
                        try box.writer.takeEvent(row)
                    } else {
                        try box.writer.takeConfirmation(row)
                    }
                } catch {
                    throw Thrown(any: error)
                }
            }
        )
    }

    // One process for each connection: the connections are as many as the caller wants.
    private static let spoolSettings = """
        SET LOCAL max_parallel_workers_per_gather = 0;
        SET LOCAL jit = off
        """

    // Literals, because COPY takes no parameters.
    private static func spoolSQL(_ reading: StreamSpool.Reading, _ spool: StreamSpool) -> String {
        let more = spool.isComplete ? ", recorded_at, bundle_id, evidence_digest" : ""
        return switch reading {
        case .events(let offsets):
            """
            COPY (
                SELECT environment, original_transaction_id, lane_offset, as_of_ms,
                    purchase_date_ms, expires_date_ms, kind, content\(more)
                FROM ledger.event
                WHERE lane = \(spool.lane) AND lane_offset >= \(offsets.lowerBound)
                    AND lane_offset <= \(offsets.upperBound) AND original_transaction_id <> ''
            ) TO STDOUT (FORMAT BINARY)
            """
        case .confirmations:
            """
            COPY (
                SELECT environment, original_transaction_id, lane_offset, as_of_ms, fields,
                    transaction_id
                FROM ledger.confirmation
                WHERE lane = \(spool.lane) AND commit_no <= \(spool.head.commit)
                    AND original_transaction_id <> ''
            ) TO STDOUT (FORMAT BINARY)
            """
        }
    }
}

extension StreamSpool {
    /// Folds the streams of a part; everything must have been read.
    func foldPart(_ part: Int, _ fold: (StreamHistory) throws -> Void) throws {
        try withPart(part) { bytes in
            try SpooledPart(bytes).fold(lane: lane, isComplete: isComplete, fold)
        }
    }
}

/// The writer of one connection, on the one thread of its session.
private struct UnsharedWriter: @unchecked Sendable {
    let writer: SpoolWriter

    init(_ writer: SpoolWriter) {
        self.writer = writer
    }
}
