import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// A commit is written only on top of the commit that it was decided against.
@Suite(.enabled { await TestServer.isAvailable })
struct PredecessorTests {
    /// As behind a pooler that switches servers: the head that the writer remembers is gone.
    ///
    /// A few events are inserted as a list of values, more as arrays, many by COPY.
    @Test(arguments: Variant.all, [1, 20, AppendInsert.copyEventsMin])
    func `a commit whose predecessor is gone is decided again`(
        variant: Variant,
        count: Int
    ) async throws {
        try await variant.withLog { log, settings in
            for number in Int64(0)..<3 {
                _ = try await log.append(verified(TestFacts.transaction(purchased: number)))
            }
            try await Self.cut(settings, from: 2)
            let facts = (0..<count).map { TestFacts.transaction(purchased: 100 + Int64($0)) }
            let outcomes = try await log.append(verified(facts))
            #expect(outcomes.map(\.position.offset) == (0..<count).map { Int64($0) + 2 })
            #expect(try await log.verify().firstMismatch == nil)
            try await expectSound(log, settings)
        }
    }

    @Test(arguments: Variant.all)
    func `the database refuses a commit on another digest or in another ledger`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction()))
            let lane = variant.lanes.lane(of: "1000")
            let empty = variant.lanes == .one ? lane : (lane + 1) % 4
            try await Inspector.inspect(settings) { inspector in
                for (number, previous, ledger) in [
                    (Int64(2), Digest.zero, log.identity.ledgerId),
                    (3, Digest.zero, log.identity.ledgerId),
                    (1, log.identity.genesis(lane: empty), [UInt8](repeating: 7, count: 16)),
                ] {
                    let plan = Self.plan(lane: empty, number: number, previous: previous)
                    let insert = AppendInsert(plan, stored: SharedParts(), ledgerId: ledger)
                    let error = await #expect(throws: PostgresError.self) {
                        try await inspector.session.together { session in
                            try insert.run(in: session)
                        }
                    }
                    #expect(error.map(AppendInsert.isLostRace) == true, "commit \(number)")
                }
            }
            #expect(try await Inspector.count("commit", settings) == 1)
            #expect(try await Inspector.count("evidence", settings) == 1)
        }
    }

    @Test(arguments: Variant.extremes)
    func `a number that cannot be increased is an error, not a crash`(
        variant: Variant
    ) async throws {
        for column in ["commit_no", "first_offset", "first_evidence_no"] {
            try await variant.withLog { log, settings in
                _ = try await log.append(verified(TestFacts.transaction()))
                try await settings.meddle(
                    "UPDATE ledger.commit SET \(column) = 9223372036854775807"
                )
                let other = try await EventLog.open(settings, .test())
                let error = await #expect(throws: EventLogError.self) {
                    try await other.append(verified(TestFacts.transaction(purchased: 9)))
                }
                #expect(error?.code == .malformedLog, "\(column)")
                #expect(try await other.verify().firstMismatch?.commit == 1, "\(column)")
                await other.close()
            }
        }
    }

    /// Whichever statement fails, nothing of the commit remains: also in a single flush without
    /// COPY.
    @Test(
        arguments: Variant.extremes,
        ["root_certificate", "evidence_segment", "evidence", "confirmation", "event", "catalog"]
    )
    func `a failure in any statement leaves nothing`(
        variant: Variant,
        table: String
    ) async throws {
        try await variant.withLog { log, settings in
            let fact = TestFacts.transaction()
            // Not signed, so that the root certificate is new, too.
            _ = try await log.append(verified([fact], trust: .vouched))
            try await Inspector.inspect(settings) { inspector in
                for statement in [
                    "SET citus.enable_unsafe_triggers = on",
                    """
                    CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE 'no' USING ERRCODE = 'XX000'; END $$
                    """,
                    """
                    CREATE TRIGGER fail BEFORE INSERT ON ledger.\(table)
                        FOR EACH ROW EXECUTE FUNCTION public.fail()
                    """,
                ] { try await inspector.session.execute(statement) }
            }
            let before = try await Self.counts(settings)
            for count in [1, 20, AppendInsert.copyEventsMin] {
                let facts =
                    [TestFacts.transaction(asOf: 5)]
                    + (0..<count).map { TestFacts.transaction(purchased: 100 + Int64($0)) }
                await #expect(throws: EventLogError.self) {
                    try await log.append(Self.submission(facts), to: variant.lanes.lane(of: "1000"))
                }
                #expect(try await Self.counts(settings) == before, "\(count)")
            }
            #expect(try await log.verify().isOK)
        }
    }

    // With a segment and a catalog version, so that every statement is sent.
    private static func submission(_ facts: [Fact]) -> Submission {
        let key = SegmentKey.of([1])
        let evidence = verified(facts).evidence
        var packed = EvidencePacking.pack(evidence.payload, dictionary: nil)
        packed = EvidencePacking.Packed(
            body: packed.body,
            segments: [EvidencePacking.Segment(key: key, body: [0])]
        )
        return Submission(
            evidence: evidence,
            recordDigest: evidence.recordDigest,
            packing: .packed(packed),
            facts: facts.map(PreparedFact.init),
            catalog: CatalogVersion(
                version: 1,
                effectiveFrom: TestClock.noon,
                recordedAt: TestClock.noon,
                source: "",
                digest: Digest.of(Array("{}".utf8)),
                body: Array("{}".utf8)
            )
        )
    }

    private static func counts(_ settings: ConnectionSettings) async throws -> [Int64] {
        var counts: [Int64] = []
        for table in [
            "event", "confirmation", "evidence", "evidence_segment", "root_certificate",
            "commit", "catalog",
        ] {
            counts.append(try await Inspector.count(table, settings))
        }
        return counts
    }

    private static func plan(lane: Int, number: Int64, previous: Digest) -> AppendPlan {
        AppendPlan(
            commit: Commit(
                lane: lane,
                number: number,
                firstOffset: number,
                count: 1,
                firstEvidence: number,
                evidence: 1,
                confirmations: 0,
                committedAt: TestClock.noon
            ),
            previous: previous,
            digest: .zero,
            events: [],
            confirmations: [],
            evidence: [],
            outcomes: []
        )
    }

    private static func cut(_ settings: ConnectionSettings, from commit: Int) async throws {
        try await settings.meddle(
            """
            DELETE FROM ledger.event WHERE lane_offset >= \(commit);
            DELETE FROM ledger.evidence WHERE commit_no >= \(commit);
            DELETE FROM ledger.commit WHERE commit_no >= \(commit)
            """
        )
    }
}
