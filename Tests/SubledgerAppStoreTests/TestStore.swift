import AppStore
import AppStoreSimulator
import Crypto
import EventLog
import Events
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import SimulatedStoreService
import SubledgerAppStore
import SubledgerHTTP
import Synchronization
import TestSupport
import Testing

/// A simulated store that listens at a port of this machine.
struct TestStore: Sendable {
    let server: SimulatedStoreServer
    let url: String
    let now: Instant
    /// The store's clock, which clients share: they sign for it.
    let clock: @Sendable () -> Instant

    /// What `/control/notifications` says.
    struct Sent: Decodable {
        let signed: Int
        let arrived: Int
        let lost: Int
    }

    /// Runs a body beside a store, whose clock stands unless it is to tick.
    static func run(
        at now: Instant = .systemClock(),
        ticks: Bool = false,
        _ configure: (inout SimulatedStoreOptions) -> Void,
        _ body: @escaping @Sendable (TestStore) async throws -> Void
    ) async throws {
        let clock: @Sendable () -> Instant = { ticks ? .systemClock() : now }
        var options = SimulatedStoreOptions(clock: clock)
        configure(&options)
        let (urls, url) = AsyncStream.makeStream(of: String.self)
        let server = SimulatedStoreServer(options, logger: TestStore.silent) { url.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                var iterator = urls.makeAsyncIterator()
                let place = try #require(await iterator.next())
                try await body(TestStore(server: server, url: place, now: now, clock: clock))
            }
            try await group.next()
            group.cancelAll()
        }
    }

    // Hummingbird reads a request's id out of the logger, which therefore must keep metadata.
    static let silent = Logger(label: "test") { _ in
        LineLogHandler(.text, level: .critical) { _ in }
    }

    func credentials(
        pem: String? = nil,
        issuerId: String = SimulatedStoreServer.issuerId
    ) throws -> ServerCredentials {
        try ServerCredentials(
            pem: pem ?? server.keyPEM,
            keyId: SimulatedStoreServer.keyId,
            issuerId: issuerId,
            bundleId: SimulatedStoreServer.bundleId
        )
    }

    /// A client of the store, which is closed after the body.
    func withClient(
        _ limits: ServerLimits = .brisk,
        _ body: (AppStoreServerClient) async throws -> Void
    ) async throws {
        try await AppStoreServerClient.with(
            try credentials(),
            url: url,
            limits,
            clock: clock,
            body
        )
    }

    func get(_ path: String) async throws -> Data {
        let place = try #require(URL(string: url))
        return try await TestClient.withClient(
            host: "127.0.0.1",
            port: try #require(place.port),
            configuration: TestClient.Configuration(timeout: .seconds(600))
        ) { client in
            Data(try #require(try await client.get(path).body).readableBytesView)
        }
    }

    /// The status and the body of an answer.
    func post(_ path: String, _ body: String) async throws -> (Int, Data) {
        let place = try #require(URL(string: url))
        return try await TestClient.withClient(
            host: "127.0.0.1",
            port: try #require(place.port),
            configuration: TestClient.Configuration(timeout: .seconds(600))
        ) { client in
            let response = try await client.post(path, body: ByteBuffer(string: body))
            let body = response.body.map { Data($0.readableBytesView) } ?? Data()
            return (Int(response.status.code), body)
        }
    }

    /// How often each endpoint was asked, and refused, by the store's own count.
    func requests() async throws -> [String: [String: Int]] {
        try JSONDecoder().decode(
            [String: [String: Int]].self,
            from: try await get("/control/requests")
        )
    }

    /// Waits until everything that was signed was sent.
    func waitUntilSent() async throws {
        try await eventually("the store has sent all notifications") {
            let sent = try JSONDecoder().decode(
                Sent.self,
                from: try await get("/control/notifications")
            )
            return sent.arrived + sent.lost == sent.signed
        }
    }
}

extension AppStoreServerClient {
    static func with(
        _ credentials: ServerCredentials,
        url: String,
        _ limits: ServerLimits = .brisk,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        _ body: (AppStoreServerClient) async throws -> Void
    ) async throws {
        let client = AppStoreServerClient(
            credentials,
            hosts: try ServerHosts(url: url),
            limits: limits,
            clock: clock
        )
        do {
            try await body(client)
        } catch {
            try await client.close()
            throw error
        }
        try await client.close()
    }
}

extension ServerLimits {
    /// Limits of a test: everything fails within a second or two.
    static let brisk: ServerLimits = {
        var limits = ServerLimits()
        limits.backOffSeconds = 0.01
        limits.backOffSecondsMax = 0.05
        // A machine that runs all tests at once may need long for an answer.
        limits.silenceSecondsMax = 60
        limits.answerSecondsMax = 120
        limits.answerByteCountMax = 1 << 20
        limits.rateLimitSecondsMax = 2
        limits.rateShare = 1
        return limits
    }()
}

/// A small real server that answers as it is told to.
enum OddServer {
    /// Runs a body beside a server; the first argument is its URL.
    static func run(
        _ answer: @escaping @Sendable (Int, Request) async throws -> Response,
        _ body: @escaping @Sendable (String, @escaping @Sendable () -> Int) async throws -> Void
    ) async throws {
        let count = Counter()
        let router = Router()
        let respond: @Sendable (Request, BasicRequestContext) async throws -> Response = {
            request,
            _ in
            try await answer(count.next(), request)
        }
        router.get("**", use: respond)
        router.post("**", use: respond)
        router.put("**", use: respond)
        router.delete("**", use: respond)
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: TestStore.silent
        )
        try await application.test(.live) { client in
            let port = try #require(client.port)
            try await body("http://127.0.0.1:\(port)") { count.value }
        }
    }

    static func json(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Response {
        Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// A number that goes up.
    final class Counter: Sendable {
        private let number = Mutex(0)

        var value: Int { number.withLock { $0 } }

        func next() -> Int {
            number.withLock {
                $0 += 1
                return $0
            }
        }
    }
}

/// Credentials that no store checks.
func anyCredentials() throws -> ServerCredentials {
    try ServerCredentials(
        pem: P256.Signing.PrivateKey().pemRepresentation,
        keyId: "KEY",
        issuerId: "ISSUER",
        bundleId: "example.app"
    )
}

/// The error that a body throws.
func serverError(_ body: () async throws -> Void) async throws -> ServerError {
    do {
        try await body()
    } catch let error as ServerError {
        return error
    }
    return try #require(nil as ServerError?, "nothing was thrown")
}
