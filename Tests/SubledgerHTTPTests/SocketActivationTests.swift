#if os(Linux)
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import Subledger
import Synchronization
import TestSupport
import Testing

@testable import SubledgerCommand
@testable import SubledgerHTTP

/// `subledger serve` at a socket that another process opened and holds, as systemd does.
@Suite(.enabled { await TestServer.isAvailable })
struct SocketActivationTests {
    private static let path = "/v1/appstore/notifications"

    /// Opens a socket and starts a program at it; SIGHUP takes another in its place.
    private static let holder = """
        import os, signal, socket, sys
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        os.dup2(listener.fileno(), 100)

        def start():
            child = os.fork()
            if child == 0:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP, signal.SIGTERM])
                os.dup2(100, 3)
                os.set_inheritable(3, True)
                named = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
                os.execve(sys.argv[1], sys.argv[1:], {**os.environ, **named})
            return child

        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGTERM])
        child, code = start(), 0
        while True:
            asked = signal.sigwait([signal.SIGHUP, signal.SIGTERM])
            os.kill(child, signal.SIGTERM)
            code = code or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if asked == signal.SIGTERM:
                sys.exit(code)
            child = start()
        """

    @Test func `restarts lose no request, on new connections and on kept ones`() async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let service = try await ServeProcess.start(
                settings,
                under: ["/usr/bin/env", "python3", "-c", Self.holder]
            )
            let (restarts, isOver) = (3, StopFlag())
            let payloads = TestService.notifications(4)
            let senders = Task {
                await withTaskGroup(of: [Int?].self) { group in
                    for worker in 0..<4 {
                        group.addTask {
                            var answers: [Int?] = []
                            while !isOver.isSet {
                                let payload = payloads[answers.count % payloads.count]
                                answers +=
                                    worker % 2 == 0
                                    ? [await service.post(payload, to: Self.path)]
                                    : await Self.posts(payload, at: service.port)
                            }
                            return answers
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
            }
            for _ in 0..<restarts {
                service.program.signal(SIGHUP)
                for await line in service.program.errorLines where line.contains("listening at") {
                    break
                }
            }
            isOver.set()
            let answers = await senders.value
            service.program.signal(SIGTERM)
            let ending = await service.program.ending()
            #expect(ending.code == 0, "\(ending.errors)")
            #expect(ending.errors.matches(of: /listening at/).count == restarts + 1)
            #expect(answers.count > restarts, "\(answers.count)")
            #expect(answers.allSatisfy { $0 == 200 }, "\(answers)")
        }
    }

    // Posts on one connection until the service says that it closes it; nil for no answer.
    private static func posts(_ body: [UInt8], at port: Int) async -> [Int?] {
        let answers = Mutex<[Int?]>([])
        do {
            try await TestClient.withClient(port: port) { client in
                for _ in 0..<200 {
                    let response = try await client.execute(
                        TestClient.Request(path, method: .post, body: ByteBuffer(bytes: body))
                    )
                    answers.withLock { $0.append(response.status.code) }
                    if response.headers[.connection] == "close" { break }
                }
            }
        } catch {
            answers.withLock { $0.append(nil) }
        }
        return answers.withLock { $0 }
    }

    @Test func `the times of responses are those of their standard`() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }

    @Test func `a socket of another process is left alone, and a wrong one is an error`() throws {
        #expect(try ServiceManager.listeningSocket([:]) == nil)
        let other = ["LISTEN_FDS": "1", "LISTEN_PID": "1"]
        #expect(try ServiceManager.listeningSocket(other, processId: 2) == nil)
        let several = ["LISTEN_FDS": "2", "LISTEN_PID": "2"]
        let error = #expect(throws: (any Error).self) {
            try ServiceManager.listeningSocket(several, processId: 2)
        }
        #expect(error.map { "\($0)" }?.contains("2 sockets") == true)
    }

    @Test func `a descriptor that does not listen is refused in words`() async throws {
        let start = """
            import os, sys
            os.dup2(os.open("/dev/null", os.O_RDONLY), 3)
            os.set_inheritable(3, True)
            named = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
            os.execve(sys.argv[1], sys.argv[1:], {**os.environ, **named})
            """
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let program = Program(path: "/usr/bin/env")
            let ending = try await program.run(
                ["python3", "-c", start, try Program("subledger").path, "serve"],
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            #expect(ending.code == 78)
            #expect(ending.errors.contains("does not listen for TCP"), "\(ending.errors)")
        }
    }
}
#endif
