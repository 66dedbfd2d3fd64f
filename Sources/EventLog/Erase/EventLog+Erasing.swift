package import Events
internal import Postgres

extension EventLog {
    /// The events that erased something of these subscriptions, by position.
    ///
    /// - Parameter streams: The subscriptions.
    /// - Returns: The events of kind `erasure`, of any scope.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func erasures(of streams: [StreamID]) async throws(EventLogError) -> [Event] {
        guard !streams.isEmpty else { return [] }
        let lanes = identity.lanes
        let asked = Dictionary(grouping: streams) { lanes.lane(of: $0.originalTransactionId) }
        let statements = asked.sorted { $0.key < $1.key }.map {
            EventLog.erasures(inLane: $0, of: $1)
        }
        return try await reading("look for erasures") { session in
            try await session.lookUp(statements).flatMap { rows in
                try rows.map { try EventRows.event(in: $0, of: lanes) }
            }
        }
    }

    /// Selects the erasures of subscriptions of a lane, by position.
    static func erasures(inLane lane: Int, of streams: [StreamID]) -> PostgresStatement {
        PostgresStatement(
            """
            SELECT \(EventRows.columns)
            FROM unnest($2::text[], $3::text[]) AS stream (environment, id)
            JOIN ledger.event e ON e.kind = 'erasure' AND e.lane = $1
                AND e.original_transaction_id = stream.id
                AND e.environment = stream.environment
            ORDER BY e.lane_offset
            """,
            [
                .int4(Int32(lane)), .textArray(streams.map(\.environment.word)),
                .textArray(streams.map(\.originalTransactionId)),
            ]
        )
    }

    /// Makes the operator's statement for an erasure of that subscription, as of that instant on
    /// the server's clock.
    package typealias ErasureStating =
        @Sendable (StreamID, Erasure, Instant) throws -> Verified<[Fact]>

    /// What an erasure would remove, in the order in which `erase` removes it; nothing is changed.
    ///
    /// - Parameter target: What is to be erased.
    /// - Returns: An erasure for each subscription that loses anything: the target, and those that
    ///   share a payload with it (scope `payload`). Empty if nothing is left to remove.
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func plannedErasure(
        of target: ErasureTarget
    ) async throws(EventLogError) -> [StreamErasure] {
        let lanes = identity.lanes
        let lane = lanes.lane(of: target.stream.originalTransactionId)
        return try await reading("plan an erasure") { session in
            try await session.atomically(.readOnlySnapshot) { session -> [StreamErasure] in
                let own = try ErasureReading.rows(lane: lanes[lane], target: target, in: session)
                var planned: [StreamErasure] = []
                for (other, numbers) in try EventLog.copies(
                    of: own.removed.digests,
                    not: lane,
                    session
                ) {
                    planned += EventLog.planned(
                        try ErasureReading.rows(
                            lane: lanes[other],
                            target: nil,
                            evidence: numbers,
                            in: session
                        ).rows,
                        lane: other
                    )
                }
                return planned + EventLog.planned(own.rows, lane: lane)
            }
        }
    }

    /// Erases: blanks the rows of a subscription and appends, in the same transaction, the events
    /// that record it.
    ///
    /// Copies of its payloads in other lanes are erased first, each lane in a transaction of its
    /// own, so an interrupted erasure is completed by running it again. Afterwards it looks for
    /// copies once more, because an append to another lane may have added one in the meantime.
    ///
    /// - Parameters:
    ///   - target: What is to be erased.
    ///   - siblings: The other subscriptions that may lose payloads which they share with it.
    ///   - statement: Makes the statement of each erasure: its only fact.
    /// - Returns: What was erased; empty if nothing was left to remove.
    /// - Throws: `sharedPayloads` if a payload proves a subscription that is not among `siblings`:
    ///   then nothing was erased in its lane; `permissionDenied` unless the login is a member of
    ///   `ledger_eraser`; `databaseUnavailable`; or what `statement` threw.
    package func erase(
        _ target: ErasureTarget,
        sharingWith siblings: Set<StreamID>,
        statement: @escaping ErasureStating
    ) async throws -> [StreamErasure] {
        let lane = identity.lanes.lane(of: target.stream.originalTransactionId)
        let home = identity.lanes[lane]
        let digests = try await reading("plan an erasure") { session in
            try await session.atomically(.readOnlySnapshot) { session in
                try ErasureReading.rows(lane: home, target: target, in: session).removed.digests
            }
        }
        var erased = try await eraseCopies(of: digests, of: target, siblings, statement)
        let own = try await erase(target, [], lane: lane, target, siblings, statement)
        erased.append(own)
        // Copies added by appends to other lanes that did not see the erasure yet.
        erased += try await eraseCopies(of: own.removed.digests, of: target, siblings, statement)
        for erased in erased where erased.isListed { try await forget(erased) }
        try await blankMovedEvidence()
        return erased.flatMap(\.done)
    }

    private func forget(_ erased: ErasedLane) async throws {
        do {
            try await withEraser { session in
                try await session.atomically { session in
                    try LaneDirectory.forget(erased.removed, lane: erased.lane, in: session)
                }
            }
        } catch {
            throw EventLog.error(error, doing: "erase")
        }
    }

    private func withEraser<Value: Sendable>(
        _ body: (PostgresSession) async throws -> Value
    ) async throws -> Value {
        try await PostgresSession.using(settings, by: limits.deadline()) { session in
            try await session.execute(
                AppendSQL.prepareSession(
                    as: .eraser,
                    hasOwnClock: making.clock != nil,
                    secondsMax: limits.secondsMax
                )
            )
            return try await body(session)
        }
    }

    private func eraseCopies(
        of digests: [Digest],
        of target: ErasureTarget,
        _ siblings: Set<StreamID>,
        _ statement: @escaping ErasureStating
    ) async throws -> [ErasedLane] {
        let lane = identity.lanes.lane(of: target.stream.originalTransactionId)
        let copies = try await reading("look for copies of payloads") { session in
            try await session.atomically(.readOnlySnapshot) { session in
                try EventLog.copies(of: digests, not: lane, session)
            }
        }
        var erased: [ErasedLane] = []
        for (other, numbers) in copies {
            erased.append(
                try await erase(nil, numbers, lane: other, target, siblings, statement)
            )
        }
        return erased
    }

    private func erase(
        _ own: ErasureTarget?,
        _ seeds: Set<Int64>,
        lane: Int,
        _ target: ErasureTarget,
        _ siblings: Set<StreamID>,
        _ statement: @escaping ErasureStating
    ) async throws -> ErasedLane {
        let attempt = ErasureAttempt(
            log: self,
            lane: lane,
            genesis: identity.genesis(lane: lane),
            target: own,
            evidence: seeds,
            mayTouch: siblings.union([target.stream]),
            statement: statement
        )

        for _ in 0..<EventLog.erasureAttemptsMax {
            do {
                return try await withEraser { session in
                    do {
                        return try await session.atomically { try attempt.run(in: $0) }
                    } catch let stale as LaneDirectory.StaleHead {
                        try await session.together { try stale.resetIfAhead(in: $0) }
                        throw stale
                    }
                }
            } catch let error as PostgresError where AppendInsert.isLostRace(error) {
                continue
            } catch is LaneDirectory.StaleHead {
                continue
            } catch {
                throw EventLog.error(error, doing: "erase")
            }
        }
        throw EventLogError(
            .databaseUnavailable,
            "erase: other writers of lane \(lane) committed first \(EventLog.erasureAttemptsMax) "
                + "times in a row; nothing was erased in this lane. Run the command again"
        )
    }

    /// Attempts at the erasure of a lane: it locks the lane's row, but writers that do not request
    /// the lock may be faster.
    private static let erasureAttemptsMax = 100

    private static func planned(
        _ rows: [StreamID: ErasureReading.Rows],
        lane: Int
    ) -> [StreamErasure] {
        rows.sorted { $0.key < $1.key }.map { stream, rows in
            StreamErasure(stream: stream, lane: lane, erasure: rows.erasure, position: nil)
        }
    }

    // The same payloads in other lanes: each lane keeps its own copy.
    private static func copies(
        of digests: [Digest],
        not lane: Int,
        _ session: isolated PostgresSession
    ) throws -> [(lane: Int, numbers: Set<Int64>)] {
        guard !digests.isEmpty else { return [] }
        let rows = try session.probe(
            """
            SELECT v.lane, v.evidence_no
            FROM unnest($1::bytea[]) AS asked (digest)
            CROSS JOIN LATERAL (SELECT * FROM ledger.evidence WHERE \(EvidenceSummary.isAsked)) v
            WHERE v.lane <> $2
            """,
            [.byteaArray(digests.map(\.bytes)), .int4(Int32(lane))]
        )
        var found: [Int: Set<Int64>] = [:]
        for row in rows { found[Int(try row.int4(0)), default: []].insert(try row.int8(1)) }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// What one transaction erased in a lane.
private struct ErasedLane: Sendable {
    let lane: Int
    let done: [StreamErasure]
    let removed: ErasureReading.Removed
    /// Whether the directory of lanes has what was removed.
    let isListed: Bool
}

/// One transaction: reads the rows to blank, appends the events that record it, blanks the rows.
private struct ErasureAttempt: Sendable {
    let log: EventLog
    let lane: Int
    let genesis: Digest
    let target: ErasureTarget?
    let evidence: Set<Int64>
    let mayTouch: Set<StreamID>
    let statement: EventLog.ErasureStating

    /// What it erased, and the ids and payloads that it removed.
    func run(in session: isolated PostgresSession) throws -> ErasedLane {
        try session.query(AppendSQL.lockLane, [.int4(Int32(lane))])
        if let target { try forget(target, in: session) }
        let head = try AppendSQL.head(
            in: session.query(AppendSQL.readHead, [.int4(Int32(lane))]),
            lane: lane,
            genesis: genesis
        )
        let found = try ErasureReading.rows(
            lane: log.identity.lanes[lane],
            target: target,
            evidence: evidence,
            in: session
        )
        let rows = found.rows.sorted { $0.key < $1.key }
        guard !rows.isEmpty else {
            return ErasedLane(lane: lane, done: [], removed: found.removed, isListed: false)
        }
        let strangers = rows.map(\.key).filter { !mayTouch.contains($0) }
        guard strangers.isEmpty else { throw EventLogError.sharedPayloads(strangers) }
        let removed = rows.reduce(into: Set<Int64>()) { $0.formUnion($1.value.evidence) }
        try log.evidenceSources.requireErasable(removed, lane: lane, in: session)
        let server = try session.query("SELECT clock_timestamp()")[0].timestamptz(0)
        let now = log.making.clock?() ?? Instant(microseconds: server)
        var batch: [Submission] = []
        for (stream, rows) in rows {
            let stated = try statement(stream, rows.erasure, now)
            guard let (its, submission, _) = try log.submissions(of: stated).first, its == lane
            else { preconditionFailure("an erasure is one fact of its own lane") }
            batch.append(submission)
        }
        let plan = try log.making.plan(
            batch,
            AppendLookUp(batch, lane: lane, of: log.identity.lanes),
            head: head,
            in: session
        )
        // No id leads to an erasure, so it lists none; an append that was decided before it waits.
        try LaneDirectory.announce(plan, in: session)
        try write(plan, in: session)
        var done: [StreamErasure] = []
        for ((stream, rows), new) in zip(rows, plan.events) {
            try blank(rows, new.event.position, in: session)
            done.append(
                StreamErasure(
                    stream: stream,
                    lane: lane,
                    erasure: rows.erasure,
                    position: new.event.position
                )
            )
        }
        return ErasedLane(
            lane: lane,
            done: done,
            removed: found.removed,
            isListed: plan.directoryKeys != nil
        )
    }

    // What is kept of it next to the log.
    private func forget(_ target: ErasureTarget, in session: isolated PostgresSession) throws {
        try EventLog.forgetOrders(of: target.stream, lane: lane, in: session)
        try EventLog.forgetConsumption(of: target.stream, lane: lane, in: session)
        try EventLog.forgetDeliveries(about: target, in: session)
    }

    private func write(_ plan: AppendPlan, in session: isolated PostgresSession) throws {
        let insert = AppendInsert(plan, stored: SharedParts(), ledgerId: log.identity.ledgerId)
        do {
            try insert.write(in: session)
        } catch let error as PostgresError
            where !AppendInsert.isLostRace(error) && AppendInsert.isPlaceTaken(error)
        {
            throw AppendInsert.placeTaken(error, doing: "erase")
        }
    }

    private func blank(
        _ rows: ErasureReading.Rows,
        _ position: Position,
        in session: isolated PostgresSession
    ) throws {
        let blanked = try session.query(
            "SELECT ledger.erase($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            [
                .int4(Int32(lane)), .int8(position.offset),
                .int8Array(rows.events.map(\.offset)), .byteaArray(rows.events.map(\.salt)),
                .byteaArray(rows.events.map(\.content)), .uuidArray(rows.events.map(\.key)),
                .int8Array(rows.confirmations.map(\.commit)),
                .int8Array(rows.confirmations.map(\.asOf)),
                .byteaArray(rows.confirmations.map(\.salt)), .int8Array(Array(rows.evidence)),
            ]
        )[0].int8(0)
        // A payload that two subscriptions share is blanked with the first of them.
        guard blanked >= rows.events.count + rows.confirmations.count else {
            throw EventLogError(
                .malformedLog,
                "erase: only \(blanked) of \(rows.events.count + rows.confirmations.count) rows in "
                    + "the stream of event \(position) could be blanked; nothing was erased. Run "
                    + "`subledger verify`"
            )
        }
    }
}

extension EventLogError {
    /// The refusal to erase payloads that also prove other subscriptions.
    package static func sharedPayloads(_ streams: [StreamID]) -> EventLogError {
        let listed = streams.prefix(20).map {
            "\($0.originalTransactionId) (\($0.environment))"
        }.joined(separator: ", ")
        let more = streams.count > 20 ? " and \(streams.count - 20) more" : ""
        return EventLogError(
            .sharedPayloads,
            "erase: payloads to be erased also prove \(listed)\(more). Those subscriptions would "
                + "keep their events but lose the shared payloads, so nothing was erased. To "
                + "accept that, add --with-siblings"
        )
    }
}
