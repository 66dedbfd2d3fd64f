import Foundation
import Postgres
import TestSupport
import Testing

@testable import EmbeddedPostgres

/// Tests that own their servers, one test at a time: the servers are killed and restarted.
@Suite(.serialized, .enabled { await TestServer.isAvailable })
struct EmbeddedServerTests {
    private static func server(_ home: String = TestServer.temporaryHome()) -> EmbeddedServer {
        EmbeddedServer(
            home: home,
            options: .init(lifetime: .process, settings: ["fsync": "off"])
        )
    }

    private static func pid(_ server: EmbeddedServer) async throws -> Int32 {
        guard case .running(let pid) = try await server.status() else {
            throw EmbeddedServerError(.didNotStart, "The server of the test does not run.")
        }
        return pid
    }

    /// Repeats until there is an answer: a server whose backend was killed accepts connections for
    /// another moment, then disconnects all clients and recovers.
    private static func afterRecovery<Answer>(
        _ ask: () async throws(PostgresError) -> Answer
    ) async throws(PostgresError) -> Answer {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do throws(PostgresError) {
                return try await ask()
            } catch {
                guard error.isRetryable, ContinuousClock.now < deadline else { throw error }
                await Task.yield()
            }
        }
    }

    @Test func `the operator's settings override ours and survive restarts`() async throws {
        let server = Self.server()
        let settings = try await server.start()
        let data = try #require(try await server.dataFolder())
        let file = "\(data)/postgresql.conf"
        let text = String(
            decoding: try #require(FileManager.default.contents(atPath: file)),
            as: UTF8.self
        )
        #expect(text.contains("Add your own settings below this line"))
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("work_mem = '7MB'\nmax_wal_size = '2GB'\n".utf8))
        try handle.close()
        for _ in 1...2 {
            try await server.stop()
            _ = try await server.start()
            let session = try await PostgresSession.connect(settings)
            for (name, value) in [("work_mem", "7MB"), ("max_wal_size", "2GB")] {
                let row = try await session.query("SELECT current_setting($1)", [.text(name)])
                    .single()
                #expect(try row.text(0) == value, "\(name)")
            }
            await session.close()
        }
    }

    @Test func `pg_basebackup copies the server over its socket`() async throws {
        let server = Self.server()
        let settings = try await server.start()
        let data = try #require(try await server.dataFolder())
        let version = String(
            decoding: try #require(FileManager.default.contents(atPath: "\(data)/PG_VERSION")),
            as: UTF8.self
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        let program = try ServerBinaries.find(explicit: nil, dataVersion: version)
            .path("pg_basebackup")
        let user = try ServerUser()
        // A folder that the server's user may write to.
        let target = URL(fileURLWithPath: data).deletingLastPathComponent().path + "/backup"
        let ending = try ChildProcess(
            command: user.command([program, "-d", try settings.uri(), "-D", target, "-X", "stream"])
        ).run()
        #expect(ending.succeeded, "\(ending.output)")
        #expect(FileManager.default.fileExists(atPath: "\(target)/PG_VERSION"))
        try FileManager.default.removeItem(atPath: target)
    }

    @Test func `a start that creates no server leaves no folder`() async throws {
        let home = TestServer.temporaryHome()
        let error = await #expect(throws: EmbeddedServerError.self) {
            try await Self.server(home).start(createIfAbsent: false)
        }
        #expect(error?.code == .absent)
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test func `the database has the settings the ledger needs and listens on no network`()
        async throws
    {
        let settings = try await Self.server().start()
        let session = try await PostgresSession.connect(settings)
        let expected = [
            "listen_addresses": "", "server_encoding": "UTF8", "data_checksums": "on",
            "fsync": "off", "unix_socket_permissions": "0700",
            "log_min_error_statement": "panic",
        ]
        for (name, value) in expected {
            let row = try await session.query("SELECT current_setting($1)", [.text(name)]).single()
            #expect(try row.text(0) == value, "\(name)")
        }
        let row = try await session.query(
            """
            SELECT current_user, current_database(), rolsuper, datcollate,
                setting = CASE WHEN 'lz4' = ANY (enumvals) THEN 'lz4' ELSE 'pglz' END
            FROM pg_roles, pg_database, pg_settings
            WHERE rolname = current_user AND datname = current_database()
                AND name = 'default_toast_compression'
            """
        ).single()
        #expect(try row.text(0) == "subledger")
        #expect(try row.text(1) == "subledger")
        #expect(try row.bool(2))
        #expect(try row.text(3) == "C")
        // Some builds have no lz4.
        #expect(try row.bool(4))
    }

    @Test func `a server starts only once, stops, keeps its data and starts again`() async throws {
        let home = TestServer.temporaryHome()
        let server = Self.server(home)
        #expect(try await server.status() == .absent)
        let settings = try await server.start()
        let first = try await Self.pid(server)
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CREATE TABLE public.kept (i int)")
        #expect(try await server.start() == settings)
        #expect(try await Self.pid(server) == first)
        try await server.stop()
        #expect(try await server.status() == .stopped)
        try await server.stop()
        _ = try await server.start()
        let again = try await PostgresSession.connect(settings)
        let count = try await again.query("SELECT count(*) FROM public.kept").single().int8(0)
        #expect(count == 0)
    }

    @Test func `a server whose socket was removed is started again`() async throws {
        let server = Self.server(TestServer.temporaryHome())
        let settings = try await server.start()
        let first = try await Self.pid(server)
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CREATE TABLE public.kept (i int)")
        let rows = try await session.query("SHOW unix_socket_directories")
        try FileManager.default.removeItem(atPath: try rows[0].text(0) + "/.s.PGSQL.5432")
        #expect(try await server.start() == settings)
        #expect(try await Self.pid(server) != first)
        let again = try await PostgresSession.connect(settings)
        #expect(try await again.query("SELECT count(*) FROM public.kept").single().int8(0) == 0)
    }

    @Test func `concurrent starts, as from several processes, create one server`() async throws {
        let home = TestServer.temporaryHome()
        let owner = Self.server(home)
        let settings = try await owner.start()
        try await owner.stop()
        let others = try await withThrowingTaskGroup(of: ConnectionSettings.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await EmbeddedServer(
                        home: home,
                        options: .init(settings: ["fsync": "off"])
                    ).start()
                }
            }
            return try await group.reduce(into: Set<ConnectionSettings>()) { $0.insert($1) }
        }
        #expect(others == [settings])
        let session = try await PostgresSession.connect(settings)
        let row = try await session.query("SELECT count(*) FROM pg_database").single()
        #expect(try row.int8(0) == 4)
    }

    @Test func `a pool finds the restarted server`() async throws {
        let server = Self.server()
        let pool = PostgresPool(try await server.start(), sessionsMax: 2)
        let ask: () async throws -> Int64 = {
            try await pool.withSession { session throws(PostgresError) in
                try await session.query("SELECT 1").single().int8(0)
            }
        }
        #expect(try await ask() == 1)
        try await server.stop()
        #expect(await codeOf(ask) == .couldNotConnect)
        _ = try await server.start()
        #expect(try await ask() == 1)
        await pool.close()
    }

    @Test func `a killed backend is a lost connection and the pool recovers`()
        async throws
    {
        let server = Self.server()
        let settings = try await server.start()
        let pool = PostgresPool(settings, sessionsMax: 2)
        let refusal = await codeOf {
            try await pool.withSession { session throws(PostgresError) in
                let pid = try await session.query("SELECT pg_backend_pid()").single().int8(0)
                kill(pid_t(pid), SIGKILL)
                try await session.query("SELECT pg_sleep(10)")
            }
        }
        #expect(refusal == .connectionLost)
        let one = try await Self.afterRecovery { () throws(PostgresError) in
            try await pool.withSession { session throws(PostgresError) in
                try await session.query("SELECT 1").single().int8(0)
            }
        }
        #expect(one == 1)
    }

    @Test func `a killed server restarts with everything that was committed`() async throws {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process)
        )
        let settings = try await server.start()
        let session = try await PostgresSession.connect(settings)
        try await session.execute(
            "CREATE TABLE public.kept (i int); INSERT INTO public.kept VALUES (1)"
        )
        kill(try await Self.pid(server), SIGKILL)
        let lost = await codeOf { try await session.query("SELECT pg_sleep(10)") }
        #expect(lost == .connectionLost)
        _ = try await server.start()
        let again = try await PostgresSession.connect(settings)
        let count = try await again.query("SELECT count(*) FROM public.kept").single().int8(0)
        #expect(count == 1)
    }

    @Test func `a process file that names an unrelated process does not prevent the start`()
        async throws
    {
        let home = TestServer.temporaryHome()
        let server = Self.server(home)
        _ = try await server.start()
        try await server.stop()
        let user = try ServerUser()
        let folders = ServerFolders(
            home: URL(fileURLWithPath: home).resolvingSymlinksInPath().path,
            user: user
        )
        // This test's own process is alive but is not a server.
        try ServerFolders.write(
            "\(getpid())\n\(folders.data)\n",
            to: folders.processFile,
            mode: 0o600,
            owner: user
        )
        #expect(try await server.status() == .stopped)
        _ = try await server.start()
    }

    @Test func `a home that others cannot enter, or with odd characters, works`() async throws {
        let closed = TestServer.temporaryHome()
        try FileManager.default.createDirectory(
            atPath: closed,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let odd = "\(closed)/it's $(odd) \"home\""
        for home in ["\(closed)/home", odd] {
            let server = Self.server(home)
            let session = try await PostgresSession.connect(try await server.start())
            let row = try await session.query("SELECT current_setting('data_directory')").single()
            let data = try row.text(0)
            let isElsewhere = data.hasPrefix("/var/tmp/subledger-")
            #expect(isElsewhere == (geteuid() == 0 || home == odd))
            let note = FileManager.default.contents(atPath: "\(home)/data-location.txt")
            if isElsewhere {
                let text = String(decoding: try #require(note), as: UTF8.self)
                #expect(text.contains(data))
            }
            try await server.stop()
        }
        try FileManager.default.removeItem(atPath: closed)
    }

    @Test func `a home with a long path puts its socket into a short one`() async throws {
        let base = TestServer.temporaryHome()
        let home = base + String(repeating: "x", count: 100)
        let settings = try await Self.server(home).start()
        _ = try await PostgresSession.connect(settings)
        #expect(settings.connectionString.contains("host='/tmp/subledger-"))
    }

    @Test func `every way to become another user works`() async throws {
        guard geteuid() == 0 else {
            print("SKIPPED: only root can become another user")
            return
        }
        for way in ServerUser.Switch.allCases {
            let user = try ServerUser(switches: [way])
            let command = user.command([
                "/bin/sh", "-c", "id -u; printf '%s\\n' \"$1\"", "x", "-D $a",
            ])
            let ending = try ChildProcess(command: command).run()
            #expect(ending.output == "\(user.uid)\n-D $a", "\(way)")
            #expect(ending.succeeded)
        }
    }

    @Test func `a started program inherits no descriptor, folder or PG variable`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let script = "pwd; for fd in $1 $2; do test -e /dev/fd/$fd && echo open; done; env"
        let ending = try ChildProcess(
            command: ["/bin/sh", "-c", script, "x", "\(ends[0])", "\(ends[1])"]
        ).run()
        let lines = ending.output.split(separator: "\n")
        #expect(lines.first == "/")
        #expect(!lines.contains("open"))
        #expect(!lines.contains { $0.hasPrefix("PG") })
    }

    @Test func `errors explain what to do`() async throws {
        let home = TestServer.temporaryHome()
        let nowhere = EmbeddedServer(home: home, options: .init(binaries: "/nonexistent"))
        let missing = await #expect(throws: EmbeddedServerError.self) { try await nowhere.start() }
        #expect(missing?.code == .notInstalled)
        #expect(missing?.description.contains("apt-get install postgresql") == true)
        #expect(missing?.description.contains("brew install postgresql") == true)
        let existing = await #expect(throws: EmbeddedServerError.self) {
            try await Self.server(home).start()
        }
        #expect(existing?.code == .notOurs)
        try FileManager.default.removeItem(atPath: home)
        let wrong = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process, settings: ["fsync": "off", "work_mem": "much"])
        )
        let refused = await #expect(throws: EmbeddedServerError.self) { try await wrong.start() }
        #expect(refused?.code == .programFailed || refused?.code == .didNotStart)
        #expect(refused?.debugDescription.contains("work_mem") == true)
        let version = #expect(throws: EmbeddedServerError.self) {
            try ServerBinaries.find(explicit: nil, dataVersion: "9")
        }
        #expect(version?.code == .wrongVersion)
        let lock = "\(TestServer.temporaryHome()).lock"
        let held = try FileLock(path: lock, timeoutSeconds: 0)
        let busy = #expect(throws: EmbeddedServerError.self) {
            _ = try FileLock(path: lock, timeoutSeconds: 0)
        }
        #expect(busy?.code == .busy)
        withExtendedLifetime(held) {}
        try FileManager.default.removeItem(atPath: lock)
    }
}
