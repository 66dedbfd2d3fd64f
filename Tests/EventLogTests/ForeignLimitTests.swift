import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Limits that a database sets for other users must not split a group commit.
@Suite(.enabled { await TestServer.isAvailable })
struct ForeignLimitTests {
    @Test(.disabled(if: CitusCluster.shared != nil, "Citus takes longer to open a session"))
    func `time limits of the database do not affect appends`() async throws {
        try await Variant.plain.withLog { log, settings in
            // Connect before setting the limits: a busy machine could exceed them while connecting.
            try await Inspector.inspect(settings) { inspector in
                let name = try #require(settings.database)
                let limits = ["statement", "lock", "idle_in_transaction_session"]
                for limit in limits {
                    try await inspector.session.execute(
                        "ALTER DATABASE \(name) SET \(limit)_timeout = '1ms'"
                    )
                }
                _ = try await appendAll(Self.payloads(100), to: [log])
                #expect(try await inspector.number("SELECT count(*) FROM ledger.event") == 100)
                let commits = try await inspector.number("SELECT count(*) FROM ledger.commit")
                #expect(commits < 50, "the batches were split")
                for limit in limits {
                    try await inspector.session.execute(
                        "ALTER DATABASE \(name) RESET \(limit)_timeout"
                    )
                }
            }
            try await expectSound(log, settings)
        }
    }

    @Test func `a batch that was cancelled from outside is retried as a whole`() async throws {
        try await Variant.plain.withLog { log, settings in
            _ = try await log.append(verified(TestFacts.transaction(purchased: 9000)))
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("BEGIN; LOCK TABLE ledger.commit")
                async let appended = appendAll(Self.payloads(100), to: [log])
                var isStopped = false
                while !isStopped {
                    isStopped =
                        try await inspector.number(
                            """
                            SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
                            WHERE datname = current_database() AND wait_event_type = 'Lock'
                            """
                        ) > 0
                }
                try await inspector.session.execute("COMMIT")
                #expect(try await appended.count == 100)
                let commits = try await inspector.number("SELECT count(*) FROM ledger.commit")
                #expect(commits < 50, "the batch was split")
            }
            try await expectSound(log, settings)
        }
    }

    private static func payloads(_ count: Int64) -> [Verified<[Fact]>] {
        (0..<count).map { verified(TestFacts.transaction(purchased: $0)) }
    }
}
