package import Events
internal import Postgres

/// What explains that a payload is not kept: the erasures of a log that removed something.
package struct ExplainingErasures: Sendable {
    private var lasting: [StreamID: Position] = [:]
    private var first: [StreamID: Position] = [:]
    private let refusedSince: Instant

    /// The erasures in these events; `refusedSince` is the time since which the database refuses
    /// payloads without bytes that no erasure of their lane explains.
    package init(_ events: [Event] = [], refusedSince: Instant = Instant(milliseconds: .min)) {
        self.refusedSince = refusedSince
        for event in events {
            guard let erasure = Erasure(event.fact.content), erasure.removesRows else { continue }
            let stream = event.fact.stream
            if erasure.scope.isLasting { lasting[stream] = lasting[stream] ?? event.position }
            first[stream] = first[stream] ?? event.position
        }
    }

    /// Whether an erasure of the subscription came before an offset of its lane, after which its
    /// payloads are not kept.
    package func explains(_ stream: StreamID, before offset: Int64) -> Bool {
        lasting[stream].map { $0.offset < offset } ?? false
    }

    /// Whether the subscription had lost payloads before an offset of its lane: it shared them with
    /// an erased one.
    package func explainsShared(_ stream: StreamID, before offset: Int64) -> Bool {
        first[stream].map { $0.offset < offset } ?? false
    }

    /// Whether an earlier version of the database may have accepted a payload that several
    /// subscriptions shared, one of them erased, without recording which.
    package func mayPredate(_ recordedAt: Instant) -> Bool {
        recordedAt < refusedSince && !lasting.isEmpty
    }
}

extension EventLog {
    /// All erasures of the log, by position; they are few.
    ///
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func erasures() async throws(EventLogError) -> [Event] {
        let lanes = identity.lanes
        return try await reading("look for erasures") { session in
            try await session.query(
                """
                SELECT \(EventRows.columns) FROM ledger.event e WHERE e.kind = 'erasure'
                ORDER BY e.lane, e.lane_offset
                """
            ).map { try EventRows.event(in: $0, of: lanes) }
        }
    }

    /// The erasures of the log, for `verify --signatures`.
    ///
    /// - Throws: `databaseUnavailable`, `malformedLog`.
    package func explainingErasures() async throws(EventLogError) -> ExplainingErasures {
        let events = try await erasures()
        return try await reading("look for erasures") { session in
            // A ledger that was not migrated yet accepts everything.
            let applied = try await session.query(
                "SELECT max(applied_at) FROM ledger.migration WHERE name = 'v011-repair'"
            )[0]
            return ExplainingErasures(
                events,
                refusedSince: try applied.isNull(0)
                    ? Instant(milliseconds: .max)
                    : Instant(microseconds: try applied.timestamptz(0))
            )
        }
    }
}
