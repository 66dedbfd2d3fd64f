import CoreFoundation
import EventLog
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import SubledgerHTTP
import Synchronization
import TestSupport
import Testing

@testable import SubledgerCommand

/// `subledger serve` under systemd, which listens at a socket of the test.
@Suite(.enabled { await TestServer.isAvailable })
struct ManagedServiceTests {
    #if os(Linux)
    @Test func `systemd hears when the service is ready, alive, reloading and stopping`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let log = try await EventLog.open(settings)
            let token = AccessToken.random(named: "desk")
            _ = try await log.add(token, [.support])
            let folder = try TestFolder()
            let manager = try NotifySocket(at: folder.path(of: "notify"))
            let service = try await ServeProcess.start(
                settings,
                environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "100000"]
            )
            #expect(try await manager.next("STATUS=").contains("waits for the database"))
            let ready = try await manager.next("READY=1")
            #expect(ready.contains("STATUS=listening at http://127.0.0.1:\(service.port)"))
            for _ in 0..<3 { _ = try await manager.next("WATCHDOG=1") }

            #expect(try await Self.question(token, at: service.port) == 404)
            _ = try await log.revokeToken(named: "desk")
            // Tokens are kept for some seconds, unless the service is told to read them again.
            service.program.signal(SIGHUP)
            #expect(try await manager.next("RELOADING=1").contains("MONOTONIC_USEC="))
            _ = try await manager.next("READY=1")
            #expect(try await Self.question(token, at: service.port) == 401)

            service.program.signal(SIGTERM)
            _ = try await manager.next("STOPPING=1")
            let ending = await service.program.ending()
            #expect(ending.code == 0)
            await log.close()
        }
    }
    #endif

    private static func question(_ token: AccessToken, at port: Int) async throws -> Int {
        try await TestClient.withClient(port: port) { client in
            try await client.get(
                "/v1/customers/nobody/access",
                headers: [.authorization: "Bearer \(token.text)"]
            ).status.code
        }
    }

    @Test func `a service says what it will do, and no secret`() async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let service = try await ServeProcess.start(
                settings,
                ["--bundle-id", "b.example", "--bundle-id", "a.example", "--follow", "--console"]
            )
            service.program.signal(SIGTERM)
            let written = await service.program.ending().errors
            for line in [
                "serve: the ledger has 0 events in 1 lane",
                "serve: accepts payloads of the apps a.example, b.example in Production, Sandbox, "
                    + "signed under Apple's roots, and also ",
                "serve: keeps the tables up to date", "serve: does not ask Apple (--poll)",
                "serve: serves HTTP, with the console; keeps who asked about whom in the log only",
            ] {
                #expect(written.contains(line), "\(written)")
            }
        }
    }

    @Test func `a service that was started in a terminal serves until it is asked to stop`()
        async throws
    {
        let terminal = """
            import os, pty, sys
            master, slave = pty.openpty()
            os.set_inheritable(master, True)
            os.dup2(slave, 0)
            os.execvp(sys.argv[1], sys.argv[1:])
            """
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let service = try await ServeProcess.start(
                settings,
                under: ["/usr/bin/env", "python3", "-c", terminal]
            )
            #expect(await service.get("/livez") == 200)
            service.program.signal(SIGTERM)
            let ending = await service.program.ending()
            #expect(ending.code == 0, "\(ending.errors)")
        }
    }

    @Test func `the unit starts the service with flags that it has`() async throws {
        let printed = try await Program("subledger").run(["serve", "--print-unit"])
        #expect(printed.code == 0)
        for line in [
            "Type=notify", "ExecReload=/bin/kill -HUP $MAINPID", "TimeoutStartSec=infinity",
            "RestartPreventExitStatus=64 77 78", "User=subledger",
        ] {
            #expect(printed.output.contains("\n\(line)\n"), "\(line)")
        }
        let start = try #require(printed.output.firstMatch(of: /\nExecStart=\S+ (.*)\n/)?.1)
        let folder = try TestFolder()
        let settings = folder.path(of: "subledger.json")
        try Data("{\"port\": 9090}".utf8).write(to: URL(fileURLWithPath: settings))
        let arguments = start.replacing("/etc/subledger/subledger.json", with: settings)
            .split(separator: " ").map(String.init)
        let shown = try await Program("subledger").run(arguments + ["--print-config"])
        #expect(shown.code == 0 && shown.output.contains("9090"), "\(shown.errors)")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: analyzer)))
    func `systemd finds that the unit lets the service do little`() async throws {
        let printed = try await Program("subledger").run(["serve", "--print-unit"])
        let folder = try TestFolder()
        let unit = folder.path(of: "subledger.service")
        try Data(printed.output.utf8).write(to: URL(fileURLWithPath: unit))
        // A threshold of 20 is an exposure of 2.0, of 10.
        let judged = try await Program(path: Self.analyzer).run([
            "security", "--offline=true", "--threshold=20", "--no-pager", unit,
        ])
        #expect(judged.code == 0, "\(judged.output)\(judged.errors)")
        let open = printed.output.replacing(
            /\n(Protect|Restrict|Private|SystemCall)[^\n]*/,
            with: ""
        )
        try Data(open.utf8).write(to: URL(fileURLWithPath: unit))
        let refused = try await Program(path: Self.analyzer).run([
            "security", "--offline=true", "--threshold=20", "--no-pager", unit,
        ])
        #expect(refused.code != 0, "the check finds nothing")
    }

    private static let analyzer = "/usr/bin/systemd-analyze"

    @Test func `variables of another process, or no socket, mean no manager`() {
        #expect(ServiceManager([:]) == nil)
        #expect(ServiceManager(["NOTIFY_SOCKET": "relative"]) == nil)
        let long = "/" + String(repeating: "x", count: 108)
        #expect(ServiceManager(["NOTIFY_SOCKET": long]) == nil)
        let parents = ["NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]
        #expect(ServiceManager(parents, processId: 2)?.watchdogInterval == nil)
        #expect(ServiceManager(parents, processId: 1)?.watchdogInterval == .seconds(30))
        // Nobody listens there.
        #expect(ServiceManager(["NOTIFY_SOCKET": "/nowhere/socket"])?.notify(["READY=1"]) == false)
    }

    @Test func `lines for the journal begin with their priority`() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        let own = ["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"]
        #expect(ServiceManager.isJournal(descriptor, own))
        #expect(!ServiceManager.isJournal(descriptor, [:]))
        #expect(!ServiceManager.isJournal(descriptor, ["JOURNAL_STREAM": "1:2"]))

        for format in LineLogHandler.Format.allCases {
            let lines = Mutex<[String]>([])
            let logger = Logger(label: "test") { label in
                var handler = LineLogHandler(format, label: label, level: .trace) { line in
                    lines.withLock { $0.append(line) }
                }
                handler.hasPriority = true
                return handler
            }
            for level in Logger.Level.allCases { logger.log(level: level, "words") }
            let priorities = lines.withLock { $0 }.map { String($0.prefix(3)) }
            #expect(priorities == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
        }
    }
}

#if os(Linux)
/// A socket at which a program reports, as systemd has one.
private final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let messages: AsyncStream<String>

    init(at path: String) throws {
        self.path = path
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        self.descriptor = descriptor
        messages = AsyncStream { continuation in
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { break }
                    continuation.yield(String(decoding: bytes.prefix(count), as: UTF8.self))
                }
                continuation.finish()
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The next message with that text; those before it are left out.
    func next(_ text: String) async throws -> String {
        for await message in messages where message.contains(text) { return message }
        throw ServeProcessError(description: "the service did not say \(text)")
    }
}
#endif
