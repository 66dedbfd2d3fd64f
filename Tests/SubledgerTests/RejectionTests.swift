import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import Synchronization
import TestSupport
import Testing

/// Ingesting keeps refused payloads, but none of their secrets.
@Suite(.enabled { await TestServer.isAvailable })
struct RejectionTests {
    private static let secret = "5ec2e7000123456789abcdef5ec2e700"
    private static let simulator = AppStoreSimulator(seed: 21)

    /// Bodies that contain the secret, each refused for a different reason or accepted.
    private static let bodies = [
        #"{"notification_type":"RENEWAL","password":"S","environment":"PROD"}"#,
        #"{"notification_type":"RENEWAL","p\u0061ssword":"S","environment":"PROD"}"#,
        #"{"receipt-data":"AAAA","password":"S"}"#, #"{"receipt-data":"AAAA","password":"S""#,
        #"{"a":{"b":[{"password":"S"}]}}"#, #"{"body":"{\"password\":\"S\"}"}"#,
        #"{"password":"S","password":"S"}"#, "password=S&receipt-data=AAAA",
        #"{"token":"S"}"#, #"{"notification_type":"CANCEL","password":"other","token":"S"}"#,
    ].map { $0.replacing("S", with: secret) }

    @Test(arguments: [TestTemplate.migrated, .divided])
    func `a refused payload is kept once, and thrown or reported`(
        template: TestTemplate
    ) async throws {
        try await withLedger(template) { ledger, _ in
            let garbage = Array("garbage!".utf8)
            let error = await #expect(throws: Rejection.self) {
                try await ledger.ingest(garbage, source: "client", location: "POST /1")
            }
            #expect(error?.code == .unsupportedFormat)
            let genuine = Self.simulator.life(0).deliveries().map(\.payload)
            let report = try await ledger.ingest([garbage] + genuine + [garbage, Array("{".utf8)])
            #expect(report.rejected == 3)
            #expect(report.appended > 0)
            let (count, listed) = try await ledger.log.rejections(limit: 10)
            #expect(count == 2)
            let kept = try #require(listed.first { $0.digest == Digest.of(garbage) })
            #expect(kept.reason == "unsupported-format")
            #expect(kept.source == "client" && kept.location == "POST /1")
            #expect(kept.message.contains("bytes of unknown form"))
            #expect(try await ledger.log.rejectedBody(kept.digest) == .some(garbage))
            #expect(try await ledger.log.verify().isOK)
        }
    }

    @Test func `rows that a writer dated between two milliseconds or never are tried once`()
        async throws
    {
        try await withLedger(.migrated) { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            for (number, started) in ["now() + interval '0.0004 s'", "'infinity'"].enumerated() {
                // The digest is not that of the body either.
                try await session.execute(
                    """
                    INSERT INTO ledger.rejection (lane, payload_digest, reason, byte_count, body,
                        message, source, location, received_at, run_started_at, input_no,
                        is_imported, standing)
                    VALUES (ledger.lane_of(encode(sha256('\(number)'), 'hex')), sha256('\(number)'),
                        'unsupported-format', 5, 'hello', 'x', 'test', '', now(), \(started), 1,
                        false, 'unproven')
                    """
                )
            }
            let report = try await ledger.retryRejections()
            #expect(report.payloads == 2)
            await session.close()
        }
    }

    @Test func `an unreadable file is reported, not kept`() async throws {
        try await withLedger(.migrated) { ledger, _ in
            let rest = Mutex([
                LocatedPayload(path: "gone", payload: .failure(Rejection(.unreadable, "gone")))
            ])
            let report = try await ledger.ingest(
                next: { rest.withLock { $0.popLast() }.map { [$0] } },
                source: "test"
            )
            #expect(report.rejectedByReason == [.unreadable: 1])
            #expect(try await ledger.log.rejections(limit: 1).count == 0)
        }
    }

    @Test(arguments: [TestTemplate.migrated, .divided], [nil, Self.secret])
    func `no secret is stored anywhere in the database`(
        template: TestTemplate,
        known: String?
    ) async throws {
        try await withLedger(template, secret: known) { ledger, settings in
            // Without the secret to compare with, it cannot be recognised under another name.
            let bodies = known == nil ? Self.bodies.filter { !$0.contains("token") } : Self.bodies
            let report = try await ledger.ingest(bodies.map { Array($0.utf8) })
            #expect(report.rejected >= bodies.count - 2, "\(report.rejectedByReason)")
            for body in bodies {
                // One at a time, as in an HTTP service.
                do {
                    _ = try await ledger.ingest(Array(body.utf8), source: "client")
                } catch let error as Rejection {
                    #expect(!error.message.contains(Self.secret))
                }
            }
            #expect(try await ledger.log.rejections(limit: 1).count >= Int64(bodies.count - 2))
            let dump = try await Self.dump(settings)
            #expect(dump.contains(Digest.of(Array(bodies[2].utf8)).hex), "the dump is one")
            #expect(dump.contains(hexadecimal("receipt-data".utf8)), "bodies are in the dump")
            for form in [Self.secret, hexadecimal(Self.secret.utf8)] {
                #expect(!dump.contains(form))
            }
        }
    }

    /// Every row of every table as text; bytes as hexadecimal.
    private static func dump(_ settings: ConnectionSettings) async throws -> String {
        let session = try await PostgresSession.connect(settings)
        let tables = try await session.query(
            """
            SELECT c.oid::regclass::text FROM pg_class c
            WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text !~ '^(pg_|information)'
            """
        ).map { try $0.text(0) }
        #expect(tables.contains { $0.hasPrefix("ledger.rejection") })
        var dump = ""
        for table in tables {
            let rows = try await session.query("SELECT t::text FROM \(table) t")
            dump += try rows.map { try $0.text(0) }.joined(separator: "\n")
        }
        await session.close()
        return dump
    }

    private func withLedger(
        _ template: TestTemplate,
        secret: String? = nil,
        _ body: (Ledger, ConnectionSettings) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            var policy = try Self.simulator.verifier().policy
            policy.sharedSecrets = [secret].compactMap { $0 }
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: AppStoreVerifier(policy: policy)
            )
            try await body(ledger, settings)
            await ledger.log.close()
        }
    }
}

extension TestTemplate {
    /// An empty ledger of four lanes, divided.
    static let divided = TestTemplate("subledger_divided") {
        _ = try await Migrator.migrate($0, .divided)
    }
}

extension Ledger {
    /// Ingests payloads as one run; refusals are in the report.
    func ingest(_ payloads: [[UInt8]], source: String = "test") async throws -> IngestReport {
        let rest = Mutex(payloads.enumerated().makeIterator())
        return try await ingest(
            next: {
                rest.withLock { $0.next() }.map { number, payload in
                    [LocatedPayload(path: "#\(number)", payload: .success(payload))]
                }
            },
            source: source
        )
    }
}
