package import Events
internal import Postgres

/// A named reader whose place is kept in the database.
package struct Consumer: Sendable {
    /// Its name.
    package let name: String
    /// What it reads.
    package let stream: Stream
    /// What distinguishes this process from others that read under the name, before and after.
    package let holder: String

    /// What a consumer reads; a cursor of one is not one of the other.
    package enum Stream: String, CaseIterable, Codable, Sendable {
        case effects, events
    }

    /// A consumer of that name in this process.
    package init(_ name: String, of stream: Stream) {
        (self.name, self.stream) = (name, stream)
        holder = String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// The most bytes of a name.
    package static let nameBytesMax = 200

    /// Whether a text can be a name: not blank, not too long, without control characters.
    package static func isName(_ text: String) -> Bool {
        text.contains { !$0.isWhitespace } && text.utf8.count <= nameBytesMax
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// What the process that reads under the name holds.
    var lock: String { "subledger/consumer/\(name)" }

    /// The key of an advisory lock.
    static func key(ofLock lock: String) -> PostgresValue {
        .int8(Int64(bitPattern: Digest.of(Array(lock.utf8)).head))
    }
}

/// A consumer and where it is.
package struct ConsumerPlace: Sendable {
    /// Its name.
    package let name: String
    /// What it reads.
    package let stream: Consumer.Stream
    /// The cursor that it acknowledged last; empty at the beginning of the log.
    package let cursor: String
    /// When it did, on the server's clock; when it was created, if it never did.
    package let acknowledgedAt: Instant
    /// Seconds since then.
    package let idleSeconds: Double
    /// Events that it has not acknowledged; nil if the log does not contain its place.
    package internal(set) var lag: Int64?
}

extension EventLog {
    /// Where a consumer continues, once this process holds its name.
    ///
    /// - Parameters:
    ///   - consumer: The consumer; see `Consumer.isName`.
    ///   - start: Where it begins if it is new.
    /// - Returns: Its place, and whether no other process has read under the name since this one
    ///   did.
    /// - Throws: `consumerOfOtherStream` if the name belongs to a reader of something else,
    ///   `permissionDenied` unless the role may write, `databaseUnavailable`.
    package func place<Cursor: LosslessStringConvertible & Sendable>(
        of consumer: Consumer,
        startingAt start: Cursor
    ) async throws(EventLogError) -> (cursor: Cursor, isContinued: Bool) {
        try await reading("read the place of consumer \(consumer.name)") { session in
            let rows = try await session.query(
                """
                WITH before AS (SELECT holder FROM operation.consumer WHERE name = $1)
                INSERT INTO operation.consumer AS c (name, stream, cursor, holder, acknowledged_at)
                VALUES ($1, $4, $2, $3, now())
                ON CONFLICT ON CONSTRAINT consumer_pkey DO UPDATE SET holder = excluded.holder
                    WHERE c.stream = excluded.stream
                RETURNING cursor, coalesce((SELECT holder FROM before) = $3, false)
                """,
                [
                    .text(consumer.name), .text(start.description), .text(consumer.holder),
                    .text(consumer.stream.rawValue),
                ]
            )
            guard rows.count == 1 else { throw EventLogError.otherStream(consumer) }
            return (try consumer.cursor(rows[0].text(0)), try rows[0].bool(1))
        }
    }

    /// Moves the place of a consumer.
    ///
    /// - Throws: `consumerInUse` if another process reads under the name by now, or it was removed;
    ///   `databaseUnavailable`.
    package func acknowledge(
        _ cursor: some LosslessStringConvertible & Sendable,
        of consumer: Consumer
    ) async throws(EventLogError) {
        try await reading("acknowledge for consumer \(consumer.name)") { session in
            let moved = try await session.query(
                """
                UPDATE operation.consumer SET cursor = $2, acknowledged_at = now()
                WHERE name = $1 AND holder = $3 RETURNING 1
                """,
                [.text(consumer.name), .text(cursor.description), .text(consumer.holder)]
            )
            guard moved.count == 1 else { throw EventLogError.inUse(consumer) }
        }
    }

    /// Moves the place of a consumer whose readers hold no connection, such as clients of the HTTP
    /// service, and returns it.
    ///
    /// - Parameters:
    ///   - consumer: The consumer; see `Consumer.isName`.
    ///   - cursor: What its client has handled; nil if it does not say.
    /// - Returns: Where it continues.
    /// - Throws: `consumerInUse` if a process holds the name, and what `place` throws.
    package func place<Cursor: LosslessStringConvertible & Sendable>(
        of consumer: Consumer,
        acknowledging cursor: Cursor?
    ) async throws(EventLogError) -> Cursor {
        try await reading("read the place of consumer \(consumer.name)") { session in
            let rows = try await session.query(
                """
                WITH free AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($5) AS ok)
                INSERT INTO operation.consumer AS c (name, stream, cursor, holder, acknowledged_at)
                SELECT $1, $4, coalesce($2, ''), $3, now() FROM free WHERE ok
                ON CONFLICT ON CONSTRAINT consumer_pkey DO UPDATE SET holder = excluded.holder,
                    cursor = coalesce($2, c.cursor), acknowledged_at =
                        CASE WHEN $2 IS NULL THEN c.acknowledged_at ELSE excluded.acknowledged_at END
                    WHERE c.stream = excluded.stream
                RETURNING cursor, (SELECT ok FROM free)
                """,
                [
                    .text(consumer.name), .text(cursor?.description), .text(consumer.holder),
                    .text(consumer.stream.rawValue), Consumer.key(ofLock: consumer.lock),
                ]
            )
            if let row = rows.first { return try consumer.cursor(row.text(0)) }
            let other = try await session.query(
                "SELECT 1 FROM operation.consumer WHERE name = $1 AND stream <> $2",
                [.text(consumer.name), .text(consumer.stream.rawValue)]
            )
            throw other.isEmpty
                ? EventLogError.inUse(consumer) : EventLogError.otherStream(consumer)
        }
    }

    /// The consumers by name, each with its place and how far it is behind.
    ///
    /// - Parameter limit: The most to return.
    /// - Returns: The consumers.
    /// - Throws: `databaseUnavailable`.
    package func consumers(limit: Int) async throws(EventLogError) -> [ConsumerPlace] {
        let places = try await reading("list the consumers") { session in
            try await session.query(
                """
                SELECT name, stream, cursor, acknowledged_at,
                    greatest(0, floor(extract(epoch FROM now() - acknowledged_at)))::bigint
                FROM operation.consumer ORDER BY name LIMIT $1
                """,
                [.int8(Int64(limit))]
            ).map { row in
                ConsumerPlace(
                    name: try row.text(0),
                    stream: Consumer.Stream(rawValue: try row.text(1)) ?? .effects,
                    cursor: try row.text(2),
                    acknowledgedAt: Instant(microseconds: try row.timestamptz(3)),
                    idleSeconds: Double(try row.int8(4))
                )
            }
        }
        let heads = try await heads()
        var measured: [ConsumerPlace] = []
        for var place in places {
            place.lag = try await passed(place).map { passed in
                heads.reduce(0) { $0 + max(0, $1.value.offset - (passed[$1.key] ?? 0)) }
            }
            measured.append(place)
        }
        return measured
    }

    /// Removes a consumer, so that a reader of the name begins again.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether there was one.
    /// - Throws: `consumerInUse` if a process reads under the name, `databaseUnavailable`.
    package func removeConsumer(_ name: String) async throws(EventLogError) -> Bool {
        let consumer = Consumer(name, of: .events)
        return try await reading("remove consumer \(name)") { session in
            let row = try await session.query(
                """
                WITH free AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($2) AS ok), gone AS (
                    DELETE FROM operation.consumer USING free WHERE name = $1 AND ok RETURNING 1)
                SELECT ok, EXISTS (SELECT FROM gone) FROM free
                """,
                [.text(name), Consumer.key(ofLock: consumer.lock)]
            ).single()
            guard try row.bool(0) else { throw EventLogError.inUse(consumer) }
            return try row.bool(1)
        }
    }

    // The last offset of each lane that a consumer has passed; nil if the log lacks its place.
    private func passed(_ place: ConsumerPlace) async throws(EventLogError) -> [Int: Int64]? {
        switch place.stream {
        case .events:
            return FeedCursor(place.cursor).map { cursor in
                Dictionary(uniqueKeysWithValues: cursor.marks.map { ($0.lane, $0.offset) })
            }
        case .effects:
            guard let marks = CommitCursor(place.cursor)?.marks else { return nil }
            // Of a commit that was taken in part, the rest is left.
            let last = marks.map { $0.taken == nil ? $0.commit : $0.commit - 1 }
            let values: [PostgresValue] = [
                .int4Array(marks.map { Int32($0.lane) }), .int8Array(last),
            ]
            let offsets = try await reading("read the commits of consumers") { session in
                try await session.query(
                    """
                    SELECT c.lane, c.first_offset + (c.count - 1)
                    FROM unnest($1::int[], $2::bigint[]) AS mark (lane, commit_no)
                    JOIN ledger.commit c USING (lane, commit_no)
                    """,
                    values
                ).map { (Int(try $0.int4(0)), try $0.int8(1)) }
            }
            guard offsets.count == last.count(where: { $0 > 0 }) else { return nil }
            return Dictionary(offsets, uniquingKeysWith: max)
        }
    }
}

extension Consumer {
    fileprivate func cursor<Cursor: LosslessStringConvertible>(
        _ text: String
    ) throws(EventLogError) -> Cursor {
        guard let cursor = Cursor(text) else {
            throw EventLogError(
                .malformedLog,
                "the cursor of consumer \(name) in operation.consumer is not one; `subledger "
                    + "consumers remove` removes it, to begin again"
            )
        }
        return cursor
    }
}

extension EventLogError {
    /// Another process reads under the name.
    static func inUse(_ consumer: Consumer?) -> EventLogError {
        EventLogError(
            .consumerInUse,
            "another process reads as consumer \(consumer?.name ?? ""); it continues when that one "
                + "ends. Readers at the same time need different names"
        )
    }

    fileprivate static func otherStream(_ consumer: Consumer) -> EventLogError {
        let others = Consumer.Stream.allCases.filter { $0 != consumer.stream }.map(\.rawValue)
        return EventLogError(
            .consumerOfOtherStream,
            "consumer \(consumer.name) reads \(others.joined(separator: ", ")), not "
                + "\(consumer.stream.rawValue): their cursors differ. Choose another name, or remove "
                + "that one with `subledger consumers remove`"
        )
    }
}
