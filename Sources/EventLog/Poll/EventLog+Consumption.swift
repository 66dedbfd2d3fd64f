package import Events
internal import Postgres

/// A notification by which Apple asks for information about a purchase, because its customer asks
/// for a refund.
package struct ConsumptionNotice: Sendable {
    /// Its event.
    package let event: Event
    /// The signed notification, byte for byte; nil if it is not kept, or has another form.
    package let payload: [UInt8]?
}

// What the log contains.
extension EventLog {
    /// Apple's requests that were recorded after a place and signed since an instant, by position.
    ///
    /// - Parameters:
    ///   - place: The last offset of each lane that was searched; everything, for a lane that it
    ///     does not name. Moves to the end of what was searched.
    ///   - instant: On Apple's clock.
    /// - Returns: The requests, each with its payload.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func consumptionNotices(
        after place: inout [Int: Int64],
        signedSince instant: Instant
    ) async throws(EventLogError) -> [ConsumptionNotice] {
        let heads = try await heads().sorted { $0.key < $1.key }
        let values: [PostgresValue] = [
            .int4Array(heads.map { Int32($0.key) }),
            .int8Array(heads.map { place[$0.key] ?? 0 }),
            .int8Array(heads.map { $0.value.offset }), .int8(instant.milliseconds),
            .bytea(Array("CONSUMPTION_REQUEST".utf8)),
        ]
        let lanes = identity.lanes
        let events = try await reading("look up requests for consumption information") { session in
            try await session.query(
                """
                SELECT \(EventRows.columns)
                FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS span (lane, after, last)
                JOIN ledger.event e ON e.lane = span.lane
                    AND e.lane_offset > span.after AND e.lane_offset <= span.last
                WHERE e.kind = 'notification' AND e.as_of_ms >= $4 AND position($5 IN e.content) > 0
                ORDER BY e.lane, e.lane_offset
                """,
                values
            ).map { try EventRows.event(in: $0, of: lanes) }
        }

        var notices: [ConsumptionNotice] = []
        for event in events
        where event.fact.content.text(.notificationType) == "CONSUMPTION_REQUEST" {
            var payload: [UInt8]?
            if case .whole(let evidence)? = try await self.event(at: event.position)?.evidence,
                evidence.kind == .signedNotification
            {
                payload = evidence.payload
            }
            notices.append(ConsumptionNotice(event: event, payload: payload))
        }
        for (lane, head) in heads { place[lane] = head.offset }
        return notices
    }
}

// The table of answers.
extension EventLog {
    /// Records requests as open, unless they are recorded or an answer came after them; the newest
    /// about a transaction supersedes older ones that wait.
    ///
    /// A request about a subscription of which the customer or everything was erased is not
    /// recorded.
    ///
    /// - Parameter requests: The requests, at most one about a transaction.
    /// - Throws: `databaseUnavailable`; `permissionDenied` unless the login is a member of
    ///   `ledger_writer`.
    package func record(
        _ requests: [ConsumptionRequest]
    ) async throws(EventLogError) {
        let parts = Dictionary(grouping: requests) { $0.position.lane.number }
        for (lane, requests) in parts.sorted(by: { $0.key < $1.key }) {
            let own = identity.lanes[lane]
            try await writing("record requests for consumption information") { session in
                // An erasure holds the lane's lock: afterwards it is seen, or it sees these rows.
                try session.query(AppendSQL.lockLane, [.int4(Int32(lane))])
                let erased = try EventLog.erased(
                    Set(requests.map(\.stream)).sorted(),
                    lane: own,
                    in: session
                )
                for request in requests where !erased.contains(request.stream) {
                    try session.query(ConsumptionSQL.supersede, request.identity)
                    try session.query(
                        ConsumptionSQL.insert,
                        request.identity + [
                            .timestamptz(microseconds: request.dueAt.microseconds),
                            .text(request.bundleId),
                        ]
                    )
                }
            }
        }
    }

    /// The request that has waited longest of those that may be tried now.
    ///
    /// - Parameters:
    ///   - bundleId: The app.
    ///   - environments: Where the purchases were made.
    ///   - now: Our clock.
    /// - Returns: The request; nil if none may be tried.
    /// - Throws: `databaseUnavailable`.
    package func waitingConsumption(
        of bundleId: String,
        in environments: [StoreEnvironment],
        at now: Instant
    ) async throws(EventLogError) -> ConsumptionRequest? {
        try await consumption(
            "WHERE outcome IN ('open', 'sending', 'failed') AND bundle_id = $1 "
                + "AND environment = ANY ($2) AND (retry_at IS NULL OR retry_at <= $3) "
                + "ORDER BY requested_at, lane, lane_offset LIMIT 1",
            [
                .text(bundleId), .textArray(environments.map(\.word)),
                .timestamptz(microseconds: now.microseconds),
            ]
        ).first
    }

    /// The newest requests that are recorded, newest first.
    ///
    /// - Parameter limit: The most to return.
    /// - Returns: The requests.
    /// - Throws: `databaseUnavailable`.
    package func recordedConsumption(
        limit: Int
    ) async throws(EventLogError) -> [ConsumptionRequest] {
        try await consumption(
            "ORDER BY requested_at DESC, lane, lane_offset LIMIT $1",
            [.int8(Int64(limit))]
        )
    }

    /// Records what became of a request, if no other process did meanwhile and it was not erased.
    ///
    /// - Parameters:
    ///   - request: The request with its new outcome.
    ///   - before: The request as it was read.
    /// - Returns: Whether it was recorded.
    /// - Throws: As `record` does.
    package func record(
        _ request: ConsumptionRequest,
        insteadOf before: ConsumptionRequest
    ) async throws(EventLogError) -> Bool {
        try await reading("record an answer to Apple") { session in
            let rows = try await session.query(
                ConsumptionSQL.update,
                [
                    .int4(Int32(request.position.lane.number)), .int8(request.position.offset),
                    .text(before.outcome.rawValue), .int4(Int32(before.attempts)),
                    .text(request.outcome.rawValue), .int4(Int32(request.attempts)),
                    .text(request.note), .text(request.body), .int8(request.errorCode),
                    .timestamptz(microseconds: request.decidedAt?.microseconds),
                    .timestamptz(microseconds: request.retryAt?.microseconds),
                ]
            )
            return rows.count == 1
        }
    }

    private func consumption(
        _ condition: String,
        _ values: [PostgresValue]
    ) async throws(EventLogError) -> [ConsumptionRequest] {
        let lanes = identity.lanes
        return try await reading("read requests for consumption information") { session in
            try await session.query(ConsumptionSQL.select + condition, values).map {
                try ConsumptionRequest(in: $0, of: lanes)
            }
        }
    }

    /// Removes what was sent about a subscription; in the transaction of an erasure.
    static func forgetConsumption(
        of stream: StreamID,
        lane: Int,
        in session: isolated PostgresSession
    ) throws {
        try session.query(
            """
            DELETE FROM operation.consumption
            WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3
            """,
            stream.key(inLane: lane)
        )
    }
}

private enum ConsumptionSQL {
    static let select = """
        SELECT lane, lane_offset, environment, original_transaction_id, bundle_id, transaction_id,
            requested_at, outcome, note, attempts, decided_at, retry_at, error_code, body
        FROM operation.consumption\u{20}
        """

    static let supersede = """
        UPDATE operation.consumption SET outcome = 'superseded', decided_at = now(), retry_at = NULL
        WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3 AND lane_offset <> $4
            AND transaction_id = $5 AND requested_at <= $6 AND outcome IN ('open', 'failed')
        """

    /// Records an open request unless an answer or a newer request makes it needless.
    static let insert = """
        INSERT INTO operation.consumption (lane, environment, original_transaction_id, lane_offset,
            transaction_id, requested_at, due_at, bundle_id, outcome, attempts, note)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'open', 0, ''
        WHERE NOT EXISTS (
            SELECT FROM operation.consumption
            WHERE lane = $1 AND environment = $2 AND original_transaction_id = $3
                AND transaction_id = $5 AND (requested_at > $6 OR decided_at >= $6
                    AND outcome IN ('sending', 'sent', 'notConsented', 'notNeeded', 'refused')))
        ON CONFLICT ON CONSTRAINT consumption_pkey DO NOTHING
        """

    static let update = """
        UPDATE operation.consumption SET outcome = $5, attempts = $6, note = $7, body = $8,
            error_code = $9, decided_at = $10, retry_at = $11
        WHERE lane = $1 AND lane_offset = $2 AND outcome = $3 AND attempts = $4 RETURNING 1
        """
}
