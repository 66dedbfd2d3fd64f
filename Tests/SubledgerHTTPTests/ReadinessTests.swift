import EmbeddedPostgres
import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import Postgres
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// The service is ready if an append would be accepted; otherwise it says what is in the way.
@Suite(.enabled { await TestServer.isAvailable })
struct ReadinessTests {
    private let path = "/v1/appstore/notifications"

    static var limits: ServiceLimits {
        var limits = ServiceLimits()
        limits.readinessSecondsMax = 0
        limits.readinessWaitSecondsMax = 0.2
        return limits
    }

    @Test(arguments: ["ledger.evidence_segment", "ledger.rejection"])
    func `a lock for which appends wait makes the service not ready until it is released`(
        table: String
    ) async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: Self.limits) { service in
                let token = try await service.token(.support)
                #expect(try await service.get("/readyz").status == 200)
                let lock = try await StuckReadTests.Lock(on: table, settings)
                try await Self.expectNotReady(service, "table-in-use", token)
                try await lock.end()
                #expect(try await service.get("/readyz").status == 200)
                let text = try await Self.metrics(of: service, token)
                #expect(text.contains("\nsubledger_database_up 1.0\n"))
                #expect(text.contains(#"subledger_append_fault{reason="table-in-use"} 0.0"#))
            }
        }
    }

    @Test func `a service that nobody asked for longer than a probe may take is still ready`()
        async throws
    {
        try await TestService.run(limits: Self.limits) { service in
            #expect(try await service.get("/readyz").status == 200)
            // Longer than the limit of the first probe, which is 2.2 s.
            try await Task.sleep(for: .seconds(2.5))
            for _ in 0..<2 { #expect(try await service.get("/readyz").status == 200) }
        }
    }

    @Test func `an event in the place of the next one makes the service not ready until repaired`()
        async throws
    {
        let payloads = TestService.notifications(2)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: Self.limits) { [path] service in
                let token = try await service.token(.support)
                #expect(try await service.post(path, payloads[0]).status == 200)
                let writer = try await PostgresSession.connect(settings)
                try await writer.execute(
                    """
                    INSERT INTO ledger.event SELECT (jsonb_populate_record(e, jsonb_build_object(
                        'lane_offset', n.next, 'fact_key', gen_random_uuid()))).*
                    FROM (SELECT lane, max(first_offset + count) AS next
                        FROM ledger.commit GROUP BY lane LIMIT 1) n
                    JOIN ledger.event e ON e.lane = n.lane AND e.lane_offset = n.next - 1
                    """
                )
                await writer.close()
                let answer = try await service.get("/readyz")
                #expect(answer.status == 503)
                #expect(try Self.appendDetail(answer) == "malformed-log")
                _ = try await service.ledger.log.repair(reason: "test", by: "test")
                #expect(try await service.get("/readyz").status == 200)
                #expect(try await service.post(path, payloads[1]).status == 200)
                #expect(try await Self.metrics(of: service, token).contains("_database_up 1.0"))
            }
        }
    }

    @Test func `a full disk is 503 with its name, and an append that succeeds ends it`()
        async throws
    {
        let payloads = TestService.notifications(2)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: Self.limits) { [path] service in
                let token = try await service.token(.support)
                let admin = try await PostgresSession.connect(settings)
                // What PostgreSQL reports if a table cannot grow.
                try await admin.execute(
                    """
                    CREATE FUNCTION public.full() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
                    CREATE TRIGGER full_disk BEFORE INSERT ON ledger.commit
                        FOR EACH ROW EXECUTE FUNCTION public.full()
                    """
                )
                try await Self.expectUnavailable(service, path, payloads[0], "disk-full")
                try await Self.expectNotReady(service, "disk-full", token)
                try await admin.execute("DROP TRIGGER full_disk ON ledger.commit")
                await admin.close()
                #expect(try await service.post(path, payloads[0]).status == 200)
                #expect(try await service.get("/readyz").status == 200)
            }
        }
    }

    @Test func `clocks too far apart are 503 with their name`() async throws {
        let payload = try #require(TestService.notifications(1).first)
        var options = EventLog.Options()
        // Less than any difference.
        options.clockSkewSecondsMax = -1
        let skewed = options
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, skewed, limits: Self.limits) {
                [path] service in
                let token = try await service.token(.support)
                try await Self.expectNotReady(service, "clock-skew", token)
                try await Self.expectUnavailable(service, path, payload, "clock-skew")
                try await Self.expectNotReady(service, "clock-skew", token)
            }
        }
    }

    @Test func `exhausted connection slots are 503 with their name`() async throws {
        let payload = try #require(TestService.notifications(1).first)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let admin = try await PostgresSession.connect(settings)
            let role = "few_\(try #require(settings.database))"
            try await admin.execute(
                """
                CREATE ROLE \(role) LOGIN CONNECTION LIMIT 1;
                GRANT ledger_writer, ledger_reader TO \(role)
                """
            )
            // If a parameter is given twice, the last one counts.
            let given = settings.fullConnectionString
            let separator = given.contains("://") ? given.contains("?") ? "&" : "?" : " "
            let few = ConnectionSettings("\(given)\(separator)user=\(role)")
            var options = EventLog.Options()
            options.appendSecondsMax = 1
            let limited = options
            // The connection for reading takes the only slot.
            try await TestService.run(on: few, limited, limits: Self.limits) { [path] service in
                #expect(try await service.ledger.log.heads().isEmpty)
                let answer = try await service.get("/readyz")
                #expect(answer.status == 503)
                #expect(try Self.appendDetail(answer) == "too-many-connections")
                try await Self.expectUnavailable(service, path, payload, "too-many-connections")
            }
            try await admin.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
            await admin.close()
        }
    }

    @Test func `serve waits for a database that is away at its start`() async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        try await server.stop()
        let program = try Program("subledger").start(
            ["serve", "--port", "0"],
            environment: ["DATABASE_URL": settings.fullConnectionString]
        )
        var isWaiting = false
        for await line in program.errorLines {
            if line.contains("waiting for the database") {
                #expect(!isWaiting, "one line a minute")
                isWaiting = true
                _ = try await server.start()
            }
            if line.contains("listening at") { break }
        }
        #expect(isWaiting)
        program.signal(SIGTERM)
        let ending = await program.ending()
        #expect(ending.code == 0, "\(ending.errors)")
        try await server.stop()
    }

    private static func expectUnavailable(
        _ service: TestService,
        _ path: String,
        _ payload: [UInt8],
        _ code: String
    ) async throws {
        let refused = try await service.post(path, payload)
        #expect(refused.status == 503)
        #expect(refused.headers[.retryAfter] == "5")
        #expect(try refused.json["code"] as? String == code)
    }

    private static func expectNotReady(
        _ service: TestService,
        _ reason: String,
        _ token: String
    ) async throws {
        let answer = try await service.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.headers[.retryAfter] == "5")
        #expect(try appendDetail(answer) == reason)
        let text = try await metrics(of: service, token)
        #expect(text.contains("\nsubledger_database_up 0.0\n"))
        #expect(text.contains("subledger_append_fault{reason=\"\(reason)\"} 1.0"), "\(text)")
    }

    private static func appendDetail(_ answer: TestService.Answer) throws -> String? {
        let checks = try #require(try answer.json["checks"] as? [[String: Any]])
        let append = checks.first { $0["name"] as? String == "append" }
        return append?["detail"] as? String
    }

    private static func metrics(of service: TestService, _ token: String) async throws -> String {
        let answer = try await service.get("/metrics", token: token)
        return String(decoding: answer.body, as: UTF8.self)
    }
}
