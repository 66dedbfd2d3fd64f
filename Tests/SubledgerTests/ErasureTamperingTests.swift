import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Rows changed by bypassing an erasure, or made to look erased.
@Suite(.enabled { await TestServer.isAvailable })
struct ErasureTamperingTests {
    @Test func `a gap without an erasure is found, and so is restored content`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let session = try await PostgresSession.connect(settings)
            try await session.execute("CREATE TABLE public.kept AS SELECT * FROM ledger.event")
            let target = ErasureTarget(stream: stream, scope: .subscription)
            let done = try await ledger.erase(
                [target],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            let own = try #require(done.first { $0.stream == stream })
            let first = try #require(own.erasure.events.ranges.first?.lowerBound)
            // The content of one event is restored.
            try await session.execute(
                """
                \(Tampering.begin)
                DELETE FROM ledger.event WHERE lane_offset = \(first);
                INSERT INTO ledger.event SELECT * FROM public.kept WHERE lane_offset = \(first)
                """
            )
            #expect(try await ledger.log.verify().firstMismatch?.offset == first)
            await session.close()
        }
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            // A payload and its citing rows are blanked by hand, without an erasure.
            let stream = try await ErasureTests.longest(of: ledger)
            let event = try #require(try await ledger.log.history(of: stream).events.first)
            let stored = try #require(try await ledger.log.event(at: event.position))
            let salt = stored.keys.stored(without: .payload, try #require(stored.commitments))
            try await session.execute(
                """
                \(Tampering.begin)
                UPDATE ledger.event SET salt = '\\x\(hexadecimal(salt))'
                WHERE lane_offset = \(event.position.offset);
                UPDATE ledger.evidence SET digest = NULL, body = NULL, context = NULL, byte_count = 0
                WHERE evidence_no = \(event.evidence)
                """
            )
            #expect(try await ledger.log.verify().firstMismatch != nil)
            await session.close()
        }
    }

    @Test(
        arguments: [
            (Erasure.Scope.subscription, "content = k.content"),
            (.subscription, "product_id = 'com.example.monthly'"),
            (.subscription, "as_of_ms = k.as_of_ms"), (.subscription, "bundle_id = k.bundle_id"),
            (.subscription, "purchase_date_ms = 1000"),
            (.subscription, "customer_id = 'anna'"),
            (.customer, "content = k.content"),
            (.customer, "app_account_token = k.app_account_token"),
            (.customer, "customer_id = 'anna'"), (.customer, "fact_key = k.fact_key"),
        ]
    )
    func `nothing may replace erased content`(
        scope: Erasure.Scope,
        change: String
    ) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let events = try await ledger.log.history(of: stream).events
            let named = try #require(
                events.first { $0.fact.content.text(.appAccountToken) != nil }
            )
            try await settings.meddle("CREATE TABLE public.kept AS SELECT * FROM ledger.event")
            let target = ErasureTarget(stream: stream, scope: scope)
            _ = try await ledger.erase([target], reason: ErasureTests.reason, withSiblings: true)
            #expect(try await ledger.log.verify().isOK)
            let offset = named.position.offset
            try await settings.meddle(
                """
                ALTER TABLE ledger.event DROP CONSTRAINT event_erased_is_blank;
                ALTER TABLE ledger.event DROP CONSTRAINT event_customer_of_links_only;
                UPDATE ledger.event e SET \(change) FROM public.kept k
                WHERE e.lane_offset = \(offset) AND k.lane_offset = \(offset)
                """
            )
            #expect(try await ledger.log.verify().firstMismatch?.offset == offset)
        }
    }

    @Test func `a payload missing without an erasure is found`() async throws {
        let change = "UPDATE ledger.evidence SET body = NULL"
        // As if it had come after an erasure.
        let digest = "decode(repeat('00', 31) || '01', 'hex')"
        for (also, reason) in [
            ("", "evidence-damaged"),
            (", byte_count = 0, context = NULL, digest = \(digest)", "evidence-missing"),
        ] {
            try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
                let stream = try await ErasureTests.longest(of: ledger)
                let event = try #require(try await ledger.log.history(of: stream).events.first)
                try await settings.meddle(
                    "\(change)\(also) WHERE evidence_no = \(event.evidence)"
                )
                #expect(try await ledger.log.verify().firstMismatch != nil)
                let signatures = try await SignatureVerification(
                    log: ledger.log,
                    roots: [try .init(der: FilledLedger.simulator.store.pki.rootDER)],
                    jobs: 1
                ).run()
                #expect(signatures.firstFailure?.reason == reason)
            }
        }
    }

    @Test(
        arguments: [
            ("event", "'lane_offset', 900000"), ("evidence", "'evidence_no', 900000"),
            ("confirmation", "'commit_no', (SELECT max(commit_no) FROM ledger.commit)"),
        ]
    )
    func `no row may be inserted as if it had been erased`(
        table: String,
        number: String
    ) async throws {
        try await ErasureTests.withFilled(lanes: 1) { _, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("SET ROLE ledger_writer")
            let key =
                table == "event"
                ? "jsonb_build_object('fact_key', gen_random_uuid())" : "'{}'"
            func insert(_ blank: String) async -> String? {
                do throws(PostgresError) {
                    try await session.execute(
                        """
                        BEGIN;
                        \(table == "confirmation" ? Self.insertCommit : "")
                        INSERT INTO ledger.\(table) SELECT (jsonb_populate_record(t, to_jsonb(t)
                            || jsonb_build_object(\(number))
                            || \(key)
                            || '\(blank)')).* FROM ledger.\(table) t LIMIT 1
                        """
                    )
                    return nil
                } catch { return error.sqlState }
            }
            #expect(await insert("{}") == nil, "the row itself may be inserted")
            try await session.execute("ROLLBACK")
            let blanks =
                table == "evidence"
                ? [#"{"digest": null, "body": null, "context": null, "byte_count": 0}"#]
                : [64, 80].map { #"{"salt": "\\x\#(String(repeating: "ab", count: $0))"}"# }
            // Citus copies the row to its server, and does not say which error that reports.
            let refusal = CitusCluster.shared == nil ? "LG001" : "XX000"
            for blank in blanks {
                #expect(await insert(blank) == refusal, "\(blank)")
                try await session.execute("ROLLBACK")
            }
            await session.close()
        }
    }

    // A repetition is accepted only together with its commit.
    private static let insertCommit = """
        INSERT INTO ledger.commit SELECT (jsonb_populate_record(k, to_jsonb(k)
            || jsonb_build_object('commit_no', k.commit_no + 1,
                'first_offset', k.first_offset + k.count, 'count', 0,
                'first_evidence_no', k.first_evidence_no + k.evidence, 'evidence', 1,
                'confirmations', 1,
                'committed_at', date_trunc('milliseconds', clock_timestamp())))).*
        FROM ledger.commit k ORDER BY k.commit_no DESC LIMIT 1;
        """
}
