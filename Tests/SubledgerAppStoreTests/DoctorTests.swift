import AppStoreSimulator
import EventLog
import Foundation
import Postgres
import SimulatedStoreService
import TestSupport
import Testing

/// `subledger doctor`: what is whole is found whole, and each fault is found for real.
@Suite(.enabled { await TestServer.isAvailable })
struct DoctorTests {
    private struct Report: Decodable {
        let ok: Bool
        let checks: [Check]

        struct Check: Decodable {
            let check: String
            let result: String
            let message: String
            let action: String?
        }

        func results(_ check: String) -> [String] {
            checks.filter { $0.check == check }.map(\.result)
        }

        func words(_ check: String) -> String {
            checks.filter { $0.check == check }.map { "\($0.message) → \($0.action ?? "")" }
                .joined(separator: "\n")
        }
    }

    private static func doctor(
        _ environment: [String: String],
        _ arguments: [String] = []
    ) async throws -> Report {
        let ending = try await Program("subledger").run(
            ["doctor", "--json", "--quiet"] + arguments,
            environment: environment
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        #expect(ending.code == (report.ok ? 0 : 1), "\(ending.errors)")
        #expect(report.ok == !report.checks.contains { $0.result == "wrong" })
        #expect(
            report.checks.allSatisfy { $0.result != "warning" || $0.action != nil },
            "a warning without what to do"
        )
        return report
    }

    private static func run(
        _ environment: [String: String],
        _ arguments: String...
    ) async throws {
        let ending = try await Program("subledger").run(arguments, environment: environment)
        #expect(ending.code == 0, "\(arguments): \(ending.errors)")
    }

    @Test func `nothing is wrong with a whole installation`() async throws {
        let folder = try TestFolder()
        let home = TestServer.temporaryHome()
        let store = try await StoreProcess.start([
            "--subscriptions",
            "2",
            "--notify",
            "http://127.0.0.1:9/",
        ])
        let environment = ["SUBLEDGER_HOME": home]
        try await Self.run(environment, "migrate", "--lanes", "1")
        try await Self.run(environment, "simulate", "--subscriptions", "2", "--out", folder.path)
        let root = folder.path(of: "root.der")
        try await Self.run(environment, "ingest", folder.path, "--root-certificate", root)
        try await Self.run(environment, "rebuild", "--quiet")
        try await Self.run(environment, "checkpoint", "--out", folder.path(of: "checkpoint.json"))
        let service = try Program("subledger").start(
            ["serve", "--port", "0", "--root-certificate", root],
            environment: environment
        )
        let url = try await service.firstMatch(of: /listening at (http:.*)$/)
        let flags = store.flags + ["--url", url]
        let report = try await Self.doctor(environment, flags)
        for check in report.checks where check.check != "apple" && check.check != "disk" {
            #expect(check.result == "ok", "\(check)")
        }
        #expect(report.results("apple") == ["not-checked"] && report.ok)
        #expect(["ok", "warning", "wrong"].contains(report.results("disk").first))
        let ending = try await Program("subledger").run(
            ["doctor"] + flags,
            environment: environment
        )
        let lines = ending.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 } && lines.count > 12, "\(ending.output)")
        #expect(ending.errors.contains("1 not checked"), "\(ending.errors)")
        service.signal(SIGTERM)
        _ = await service.ending()
        try await Self.run(environment, "database", "stop")
        await store.end()
        try FileManager.default.removeItem(atPath: home)
    }

    @Test func `a database that is away hides no other check`() async throws {
        let folder = try TestFolder()
        let report = try await Self.doctor(
            ["DATABASE_URL": "host=/nowhere", "SUBLEDGER_POLL_FOO": "1"],
            ["--root-certificate", folder.path(of: "none.der"), "--url", "http://127.0.0.1:1"]
        )
        #expect(report.results("database") == ["wrong"])
        #expect(report.results("schema") == ["not-checked"])
        #expect(report.results("checkpoint") == ["not-checked"])
        #expect(report.results("settings") == ["wrong"])
        #expect(report.words("settings").contains("SUBLEDGER_POLL_FOO"))
        #expect(report.results("roots") == ["ok", "wrong"])
        #expect(report.results("key") == ["not-checked"])
        #expect(report.results("service") == ["wrong"])
        #expect(report.words("service").contains("cannot be reached (Connection refused)"))
    }

    @Test(arguments: [
        ("DROP SCHEMA ledger CASCADE", "schema", "no ledger"),
        (
            "DELETE FROM ledger.migration WHERE version = (SELECT max(version) FROM "
                + "ledger.migration)", "schema", "1 migration missing"
        ),
        (
            "INSERT INTO ledger.migration (version, name, checksum) VALUES (99, 'v099-later', "
                + "repeat('0', 64))", "schema", "newer subledger"
        ),
        (
            "UPDATE ledger.migration SET checksum = repeat('0', 64) WHERE version = 1", "schema",
            "never edited"
        ),
        (
            "DROP TRIGGER append_only_statement ON ledger.event", "objects",
            // On Citus, also those of the shards.
            "\(CitusCluster.shared == nil ? "1 difference: " : "")trigger of ledger.event"
        ),
        ("DROP FUNCTION ledger.lane_of CASCADE", "objects", "constraint catalog_in_one_lane"),
        ("GRANT DELETE ON ledger.event TO PUBLIC", "objects", "ledger.event"),
        (
            "ALTER TABLE ledger.event ENABLE ROW LEVEL SECURITY", "objects",
            "row security of ledger.event"
        ),
        (
            "CREATE RULE lost AS ON INSERT TO ledger.commit DO INSTEAD NOTHING", "objects",
            "rule lost of ledger.commit"
        ),
        ("ALTER TABLE ledger.event DROP CONSTRAINT event_pkey", "objects", "key event_pkey"),
        (
            "CREATE FUNCTION ledger.lane_of(varchar) RETURNS int LANGUAGE sql RETURN 0; "
                + "ALTER FUNCTION ledger.lane_of(varchar) OWNER TO ledger_owner", "objects",
            "further function ledger.lane_of(character varying)"
        ),
    ])
    func `what is wrong with a schema is found`(
        meddling: String,
        check: String,
        words: String
    ) async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let environment = ["DATABASE_URL": settings.fullConnectionString]
            #expect(try await Self.doctor(environment).results(check) == ["ok"])
            if check == "schema" {
                try await settings.meddle(meddling)
            } else {
                // Disabling triggers as well would be a fault of its own.
                let session = try await PostgresSession.connect(settings)
                try await session.execute("SET client_min_messages = warning")
                try await session.execute("SET citus.enable_unsafe_triggers = on")
                try await session.execute(meddling)
                await session.close()
            }
            let report = try await Self.doctor(environment)
            #expect(report.results(check) == ["wrong"], "\(report.words(check))")
            #expect(report.words(check).contains(words), "\(report.words(check))")
            if check == "schema" { #expect(report.results("objects") == ["not-checked"]) }
        }
    }

    @Test func `what is wrong with a server and its content is found`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let environment = ["DATABASE_URL": settings.fullConnectionString]
            func expect(_ check: String, _ result: String, _ words: String) async throws {
                let report = try await Self.doctor(environment)
                #expect(report.results(check) == [result], "\(report.words(check))")
                #expect(report.words(check).contains(words), "\(report.words(check))")
            }
            // The tests' own server does not flush, unless it is told to.
            let isFlushing = ProcessInfo.processInfo.environment["SUBLEDGER_TEST_FSYNC"] == "on"
            try await expect("durability", isFlushing ? "ok" : "wrong", "fsync")
            try await expect("checkpoint", "warning", "none was ever stored")
            try await expect("tables", "not-checked", "subledger rebuild")
            try await expect("clock", "ok", "the server's clock")
            let folder = try TestFolder()
            try await Self.run(
                environment,
                "simulate",
                "--subscriptions",
                "2",
                "--out",
                folder.path
            )
            let root = folder.path(of: "root.der")
            try await Self.run(environment, "rebuild", "--quiet")
            try await Self.run(environment, "ingest", folder.path, "--root-certificate", root)
            try await settings.meddle(
                "UPDATE ledger.event SET recorded_at = now() - interval '2 hours'"
            )
            try await expect("tables", "warning", "behind the log, the oldest for 2 h 0 min")
            try await settings.meddle(
                "UPDATE ledger.commit SET committed_at = now() + interval '1 day'"
            )
            try await expect("clock", "wrong", "newest commit is 24 h")
            try await Self.run(environment, "checkpoint", "--out", folder.path(of: "c.json"))
            try await expect("checkpoint", "ok", "not signed")
            try await expect("names", "ok", "no schema")
            try await settings.meddle("CREATE SCHEMA ledger_writer")
            try await expect("names", "warning", "1 schema ledger_writer")
            try await settings.meddle(
                "UPDATE ledger.checkpoint SET taken_at = now() - interval '3 days'"
            )
            try await expect("checkpoint", "warning", "72 h")
            try await settings.meddle(
                "UPDATE ledger.commit SET digest = sha256('other') WHERE commit_no = "
                    + "(SELECT max(commit_no) FROM ledger.commit)"
            )
            try await expect("checkpoint", "wrong", "subledger verify")
        }
    }

    @Test func `a user without a role of the ledger is named`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let role = "doctor_\(ProcessInfo.processInfo.processIdentifier)"
            try await settings.meddle("CREATE ROLE \(role) LOGIN")
            let report = try await Self.doctor([
                "DATABASE_URL": settings.fullConnectionString, "PGUSER": role,
            ])
            // A connection string that names its user says so.
            if !settings.fullConnectionString.contains(/user=|@/) {
                #expect(report.results("role") == ["wrong"], "\(report.words("role"))")
                #expect(report.words("role").contains("GRANT ledger_writer"))
            }
            try await settings.meddle("DROP ROLE \(role)")
        }
    }

    @Test(.enabled(if: OpenSSL.isInstalled))
    func `a root certificate that has expired, or will soon, is named`() async throws {
        let folder = try TestFolder()
        let key = try await OpenSSL.makeKey("root.pem", in: folder)
        for (days, result) in [(30, "warning"), (4000, "ok")] {
            let path = folder.path(of: "root-\(days).crt")
            let made = try await OpenSSL.run([
                "req", "-x509", "-key", key, "-subj", "/CN=Test", "-days", "\(days)", "-out", path,
            ])
            #expect(made.code == 0, "\(made.errors)")
            let report = try await Self.doctor(
                ["DATABASE_URL": "host=/nowhere"],
                ["--root-certificate", path]
            )
            #expect(report.results("roots") == ["ok", result], "\(report.words("roots"))")
        }
        let request = folder.path(of: "root.csr")
        let config = folder.path(of: "ca.conf")
        let past = folder.path(of: "past.crt")
        _ = try await OpenSSL.run([
            "req", "-new", "-key", key, "-subj", "/CN=Test", "-out", request,
        ])
        try Data(
            "[ca]\ndefault_ca=c\n[c]\ndatabase=\(folder.path(of: "db"))\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nnew_certs_dir=\(folder.path)\n[p]\ncommonName=supplied\n"
                .utf8
        )
        .write(to: URL(fileURLWithPath: config))
        try Data().write(to: URL(fileURLWithPath: folder.path(of: "db")))
        let made = try await OpenSSL.run([
            "ca", "-batch", "-selfsign", "-config", config, "-keyfile", key, "-in", request, "-out",
            past, "-notext", "-startdate", "20100101000000Z", "-enddate", "20200101000000Z",
        ])
        #expect(made.code == 0, "\(made.errors)")
        let report = try await Self.doctor(
            ["DATABASE_URL": "host=/nowhere"],
            ["--root-certificate", past]
        )
        #expect(report.results("roots") == ["ok", "wrong"])
        #expect(report.words("roots").contains("expired 2020-01-01"), "\(report.words("roots"))")
    }

    @Test func `keys, services and stores that are not as they must be are found`() async throws {
        let store = try await StoreProcess.start(["--subscriptions", "2"])
        let key = store.folder.path(of: "AuthKey.p8")
        let environment = ["DATABASE_URL": "host=/nowhere"]
        func expect(
            _ check: String,
            _ result: String,
            _ words: String,
            _ arguments: String...
        ) async throws {
            let report = try await Self.doctor(environment, store.flags + arguments)
            #expect(report.results(check) == [result], "\(report.words(check))")
            #expect(report.words(check).contains(words), "\(report.words(check))")
        }
        try await expect("key", "ok", "SIMULATED1")
        try await expect("service", "wrong", "HTTP status 404", "--url", store.url)
        try await expect("service", "wrong", "not the address", "--url", "ftp://x")
        try await expect("apple", "not-checked", "--ask-apple")
        try await expect("apple", "wrong", "App Store Connect", "--ask-apple")
        try await expect("apple", "wrong", "HTTP status 401", "--ask-apple", "--issuer-id", "x")
        #expect(chmod(key, 0o644) == 0)
        try await expect("key", "wrong", "chmod 600")
        #expect(chmod(key, 0o600) == 0)
        try Data("no key".utf8).write(to: URL(fileURLWithPath: key))
        try await expect("key", "wrong", "P-256")
        await store.end()
    }

    @Test func `the key and the roots of serve are checked, from variables and from its file`()
        async throws
    {
        let store = try await StoreProcess.start(["--subscriptions", "2"])
        let root = store.folder.path(of: "root.der")
        var environment = [
            "DATABASE_URL": "host=/nowhere",
            "SUBLEDGER_SERVE_KEY": store.folder.path(of: "AuthKey.p8"),
            "SUBLEDGER_SERVE_KEY_ID": SimulatedStoreServer.keyId,
            "SUBLEDGER_SERVE_ISSUER_ID": SimulatedStoreServer.issuerId,
            "SUBLEDGER_SERVE_BUNDLE_ID": SimulatedStoreServer.bundleId,
            "SUBLEDGER_SERVE_ROOT_CERTIFICATE": root, "SUBLEDGER_SERVE_API_URL": store.url,
        ]
        let report = try await Self.doctor(environment, ["--ask-apple"])
        #expect(report.results("key") == ["ok"], "\(report.words("key"))")
        #expect(report.words("key").contains("of serve"))
        #expect(report.results("roots") == ["ok", "ok"])
        #expect(report.words("roots").contains(root))
        // The request reached the store, which has no URL to send to.
        #expect(report.words("apple").contains("4040007"), "\(report.words("apple"))")
        environment["SUBLEDGER_SERVE_KEY"] = "/nowhere/key.p8"
        let missing = try await Self.doctor(environment)
        #expect(missing.results("key") == ["wrong"], "\(missing.words("key"))")
        let file = try store.folder.write(
            "serve.json",
            Data(
                #"""
                {"keyId": "OTHER", "port": 8080, "rootCertificate": ["/nowhere/root.der"],
                 "key": "\#(store.folder.path(of: "AuthKey.p8"))", "issuerId": "i",
                 "bundleId": ["com.example"]}
                """#.utf8
            )
        )
        let both = try await Self.doctor(["DATABASE_URL": "host=/nowhere"], ["--config", file])
        #expect(both.results("key") == ["ok"] && both.words("key").contains("key OTHER"))
        #expect(both.results("roots") == ["ok", "wrong"], "\(both.words("roots"))")
        await store.end()
    }

    @Test func `a test notification is followed from Apple to the service`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let folder = try TestFolder()
            let root = folder.path(of: "root.der")
            try Data(AppStoreSimulator(seed: 1).store.pki.rootDER)
                .write(to: URL(fileURLWithPath: root))
            let environment = ["DATABASE_URL": settings.fullConnectionString]
            let service = try Program("subledger").start(
                ["serve", "--port", "0", "--root-certificate", root],
                environment: environment
            )
            let url = try await service.firstMatch(of: /listening at (http:.*)$/)
            for (notify, result) in [
                ("\(url)/v1/appstore/notifications", "ok"), ("http://127.0.0.1:1/", "wrong"),
            ] {
                let store = try await StoreProcess.start([
                    "--subscriptions",
                    "2",
                    "--notify",
                    notify,
                ])
                let report = try await Self.doctor(environment, store.flags + ["--ask-apple"])
                #expect(report.results("apple") == [result], "\(report.words("apple"))")
                await store.end()
            }
            service.signal(SIGTERM)
            _ = await service.ending()
        }
    }
}
