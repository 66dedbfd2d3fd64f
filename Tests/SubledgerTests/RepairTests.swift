import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Rows that a writer inserted past the programs: they lose no fact, and the owner can remove them.
@Suite(.enabled { await TestServer.isAvailable })
struct RepairTests {
    @Test(arguments: [1, 4])
    func `a segment that was there first with another text stops the append, until it is removed`(
        lanes: Int
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, settings in
            let delivery = FilledLedger.simulator.life(0).deliveries()[0]
            let verified = try FilledLedger.simulator.verifier().verify(
                payload: delivery.payload,
                source: "test",
                receivedAt: .systemClock()
            )
            let payload = verified.groups[0].evidence.payload
            let dictionary = ledger.log.evidenceDictionary
            let segments = EvidencePacking.pack(payload, dictionary: dictionary).segments
            let segment = try #require(segments.first)
            let wrong = EvidencePacking.pack(Array("wrong".utf8), dictionary: nil).body
            try await Self.asWriter(settings) { session in
                for lane in 0..<lanes {
                    try await session.query(
                        "INSERT INTO ledger.evidence_segment VALUES ($1, $2, $3)",
                        [.int4(Int32(lane)), .bytea(segment.key.bytes), .bytea(wrong)]
                    )
                }
            }
            let refused = await #expect(throws: EventLogError.self) {
                _ = try await ledger.log.append(verified.groups)
            }
            #expect(refused?.code == .malformedLog)
            #expect(refused?.message.contains("subledger repair") == true)
            #expect(try await ledger.log.heads().isEmpty, "nothing was acknowledged")

            let planned = try await ledger.log.repair(reason: "test", by: "test", isDryRun: true)
            #expect(planned.map(\.table) == Array(repeating: "evidence_segment", count: lanes))
            #expect(try await ledger.log.repair(reason: "test", by: "test") == planned)
            #expect(try await ledger.log.repair(reason: "test", by: "test").isEmpty)
            _ = try await ledger.log.append(verified.groups)
            #expect(try await ledger.log.verify().isOK)
            #expect(
                try await Self.number("SELECT count(*) FROM ledger.repair", settings)
                    == Int64(lanes)
            )
        }
    }

    @Test func `the same text packed in other bytes is used as it is`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let delivery = FilledLedger.simulator.life(0).deliveries()[0]
            let verified = try FilledLedger.simulator.verifier().verify(
                payload: delivery.payload,
                source: "test",
                receivedAt: .systemClock()
            )
            // As an older program, without a dictionary.
            let plain = EvidencePacking.pack(verified.groups[0].evidence.payload, dictionary: nil)
            try await Self.asWriter(settings) { session in
                for segment in plain.segments {
                    try await session.query(
                        "INSERT INTO ledger.evidence_segment VALUES (0, $1, $2)",
                        [.bytea(segment.key.bytes), .bytea(segment.body)]
                    )
                }
            }
            let outcomes = try await ledger.log.append(verified.groups)
            let isNew = outcomes.joined().allSatisfy { $0.isNew }
            #expect(isNew)
            #expect(try await ledger.log.verify().isOK)
        }
    }

    @Test func `a root certificate under the key of another is named and removed`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let root = try RootCertificate(der: FilledLedger.simulator.store.pki.rootDER).digest
            let forged = Array(root.bytes.prefix(4)) + [UInt8](repeating: 7, count: 28)
            try await Self.asWriter(settings) { session in
                try await session.query(
                    """
                    INSERT INTO ledger.root_certificate
                    VALUES (0, ('x' || encode(substr($1, 1, 4), 'hex'))::bit(32)::int, $1)
                    """,
                    [.bytea(forged)]
                )
            }
            let life = FilledLedger.simulator.life(0).deliveries()
            let refused = await #expect(throws: EventLogError.self) {
                try await ledger.ingest(life)
            }
            #expect(refused?.message.contains("root certificate") == true)
            let removed = try await ledger.log.repair(reason: "test", by: "test")
            #expect(removed.map(\.table) == ["root_certificate"])
            try await ledger.ingest(life)
            #expect(try await ledger.log.verify().isOK)
        }
    }

    /// What a writer, or an owner, inserted past the programs.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let tables: [String]
        var isOfOwner = false
        /// Whether no append succeeds before the repair.
        var stopsAppends = true
    }

    private static let newest = "(SELECT * FROM ledger.commit ORDER BY commit_no DESC LIMIT 1) c"

    private static let damages = [
        Damage(
            testDescription: "an event without a commit",
            sql: """
                INSERT INTO ledger.event SELECT (jsonb_populate_record(NULL::ledger.event, to_jsonb(e)
                    || jsonb_build_object('lane_offset', e.lane_offset + 1,
                        'fact_key', gen_random_uuid()))).*
                FROM (SELECT * FROM ledger.event ORDER BY lane_offset DESC LIMIT 1) e
                """,
            tables: ["event"]
        ),
        Damage(
            testDescription: "a payload without a commit",
            sql: """
                INSERT INTO ledger.evidence SELECT (jsonb_populate_record(NULL::ledger.evidence, to_jsonb(v)
                    || jsonb_build_object('evidence_no', v.evidence_no + 1))).*
                FROM (SELECT * FROM ledger.evidence ORDER BY evidence_no DESC LIMIT 1) v
                """,
            tables: ["evidence"]
        ),
        Damage(
            testDescription: "a gap of commits",
            sql: """
                INSERT INTO ledger.commit SELECT (jsonb_populate_record(NULL::ledger.commit,
                    to_jsonb(c) || jsonb_build_object('commit_no', c.commit_no + 1000))).*
                FROM \(newest)
                """,
            tables: ["commit"],
            isOfOwner: true,
            stopsAppends: false
        ),
        Damage(
            testDescription: "a commit of format 3",
            sql: """
                INSERT INTO ledger.commit SELECT (jsonb_populate_record(NULL::ledger.commit,
                    to_jsonb(c) || jsonb_build_object('commit_no', c.commit_no + 1, 'format', 3,
                        'first_offset', c.first_offset + c.count,
                        'first_evidence_no', c.first_evidence_no + c.evidence))).*
                FROM \(newest)
                """,
            tables: ["commit"],
            isOfOwner: true
        ),
    ]

    @Test(arguments: damages)
    func `what keeps appends from working is removed, and recorded`(damage: Damage) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let before = try await ledger.log.heads()
            if damage.isOfOwner {
                try await settings.meddle("SET ROLE ledger_owner; \(damage.sql)")
            } else {
                try await Self.asWriter(settings) { try await $0.execute(damage.sql) }
            }
            #expect(try await ledger.log.verify().firstMismatch != nil)
            // A new subscription.
            let life = FilledLedger.simulator.life(FilledLedger.lives + 1).deliveries()
            if damage.stopsAppends {
                await #expect(throws: (any Error).self) { try await ledger.ingest(life) }
            }

            let removed = try await ledger.log.repair(reason: "ticket 7", by: "ops")
            #expect(removed.map(\.table) == damage.tables)
            #expect(try await ledger.log.heads() == before)
            #expect(try await ledger.log.verify().isOK)
            let recorded = try await Self.number(
                """
                SELECT count(*) FROM ledger.repair WHERE stated_by = 'ops'
                    AND starts_with(reason, 'ticket 7: ') AND removed ->> 'lane' = '0'
                """,
                settings
            )
            #expect(recorded == 1)
            try await ledger.ingest(life)
            #expect(try await ledger.log.verify().isOK)
            // The guards are back.
            try await Inspecting.expectRefused("DELETE FROM ledger.event", settings)
        }
    }

    /// Far behind the head, where appends do not collide with it.
    private static func plant(_ condition: String, at offset: Int64? = nil) -> String {
        """
        INSERT INTO ledger.event SELECT (jsonb_populate_record(NULL::ledger.event, to_jsonb(e)
            || jsonb_build_object(
                'lane_offset', \(offset.map(String.init) ?? "e.lane_offset + 1000000000"),
                'fact_key', gen_random_uuid()))).*
        FROM ledger.event e WHERE \(condition)
        """
    }

    @Test func `an erasure that finds a row in its place names it and what removes it`()
        async throws
    {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let head = try #require(try await ledger.log.heads()[0]).offset
            try await Self.asWriter(settings) {
                try await $0.execute(Self.plant("e.lane_offset = 1", at: head + 1))
            }
            let target = ErasureTarget(
                stream: try await ErasureTests.longest(of: ledger),
                scope: .subscription
            )
            func erase() async throws -> [StreamErasure] {
                try await ledger.erase([target], reason: ErasureTests.reason, withSiblings: true)
            }
            let refusal = await #expect(throws: EventLogError.self) { try await erase() }
            #expect(refusal?.code == .malformedLog)
            #expect(refusal?.message.hasPrefix("erase: event has a row") == true)
            #expect(refusal?.message.contains("`subledger repair` removes it") == true)
            _ = try await ledger.log.repair(reason: "test", by: "test")
            #expect(try await !erase().isEmpty)
        }
    }

    @Test func `an erasure lists no row that no commit accounts for`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let id = stream.originalTransactionId
            try await Self.asWriter(settings) {
                try await $0.execute(Self.plant("original_transaction_id = '\(id)'"))
            }
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .subscription)],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            #expect(try await ledger.log.verify().firstMismatch != nil)
            #expect(try await !ledger.log.repair(reason: "test", by: "test").isEmpty)
            #expect(try await ledger.log.verify().firstMismatch == nil)
            // They may identify a person, so the owner can delete them.
            try await Self.asWriter(settings) {
                try await $0.execute("SET ROLE ledger_owner; DELETE FROM ledger.repair")
            }
        }
    }

    @Test func `a fact that only a row without a commit states is not known`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let life = FilledLedger.simulator.life(0).deliveries()
            try await ledger.ingest(life)
            let session = try await PostgresSession.connect(settings)
            let rows = try await session.query("SELECT to_jsonb(e)::text FROM ledger.event e")
                .map { try $0.text(0) }
            await session.close()
            try await FollowTests.withLedger(lanes: 1) { ledger, settings in
                try await ledger.ingest([life[0]])
                try await Self.asWriter(settings) { session in
                    try await session.query(
                        """
                        INSERT INTO ledger.event
                        SELECT (jsonb_populate_record(NULL::ledger.event, r::jsonb
                            || jsonb_build_object('lane_offset',
                                (r::jsonb ->> 'lane_offset')::bigint + 1000000000))).*
                        FROM unnest($1::text[]) r
                        ON CONFLICT DO NOTHING
                        """,
                        [.textArray(rows)]
                    )
                }
                let refused = await #expect(throws: EventLogError.self) {
                    try await ledger.ingest(life)
                }
                #expect(refused?.message.contains("subledger repair") == true)
                _ = try await ledger.log.repair(reason: "test", by: "test")
                try await ledger.ingest(life)
                let head = try #require(try await ledger.log.heads()[0])
                #expect(head.offset == Int64(rows.count))
                #expect(try await ledger.log.verify().isOK)
            }
        }
    }

    @Test func `a writer adds no confirmation to a commit that is there`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let refused = await #expect(throws: PostgresError.self) {
                try await Self.asWriter(settings) {
                    try await $0.execute(
                        """
                        INSERT INTO ledger.confirmation
                        SELECT (jsonb_populate_record(NULL::ledger.confirmation, to_jsonb(c)
                            || jsonb_build_object('as_of_ms', c.as_of_ms - 1))).*
                        FROM ledger.confirmation c LIMIT 1
                        """
                    )
                }
            }
            #expect(refused?.sqlState == "LG003")
            let report = try await ledger.log.verify()
            #expect(report.isOK)
        }
    }

    @Test func `only the owner repairs, and a commit that is built upon stays`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            try await settings.meddle(
                """
                INSERT INTO ledger.commit SELECT (jsonb_populate_record(NULL::ledger.commit,
                    to_jsonb(c) || jsonb_build_object('commit_no', c.commit_no + n,
                        'first_offset', c.first_offset + n * c.count,
                        'first_evidence_no', c.first_evidence_no + n * c.evidence))).*
                FROM \(Self.newest), generate_series(5, 6) n
                """
            )
            let removed = try await ledger.log.repair(reason: "test", by: "test")
            #expect(removed.isEmpty, "\(removed)")
            #expect(try await ledger.log.verify().firstMismatch != nil)
        }
    }

    private static func asWriter(
        _ settings: ConnectionSettings,
        _ body: (PostgresSession) async throws -> Void
    ) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute("SET ROLE ledger_writer")
        try await body(session)
        await session.close()
    }

    static func number(_ sql: String, _ settings: ConnectionSettings) async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(sql)
        await session.close()
        return try rows[0].int8(0)
    }
}

/// What the database refuses.
private enum Inspecting {
    static func expectRefused(_ sql: String, _ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        let refused = await #expect(throws: PostgresError.self) { try await session.execute(sql) }
        #expect(refused?.sqlState == "LG001")
        await session.close()
    }
}
