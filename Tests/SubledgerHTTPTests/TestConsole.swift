import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Postgres
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The console of a ledger on a port of this machine.
struct TestConsole {
    let ledger: Ledger
    /// The clock of the log.
    let clock: SetClock
    let console: ConsoleRoutes
    let client: any TestClientProtocol

    static func run(
        limits: ServiceLimits = .unhurried,
        usesLogClock: Bool = false,
        _ body: @escaping @Sendable (TestConsole) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await run(on: settings, limits: limits, usesLogClock: usesLogClock, body)
        }
    }

    /// The same, on the caller's database; its pages use this machine's clock, or that of the log.
    static func run(
        on settings: ConnectionSettings,
        limits: ServiceLimits = .unhurried,
        usesLogClock: Bool = false,
        _ body: @escaping @Sendable (TestConsole) async throws -> Void
    ) async throws {
        let clock = SetClock(.epoch)
        var options = EventLog.Options()
        options.clock = { clock.now }
        let ledger = Ledger(
            log: try await EventLog.open(settings, options),
            verifier: try TestService.simulator.verifier()
        )
        let routes = LedgerRoutes(
            ledger,
            limits: limits,
            logger: Logger(label: "test"),
            clock: { usesLogClock ? clock.now : .systemClock() }
        )
        let console = ConsoleRoutes(routes)
        let application = Application(
            router: LedgerServer.router(of: routes, console),
            server: LedgerServer.http(for: routes),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0))
        )
        try await application.test(.live) { client in
            try await body(
                TestConsole(ledger: ledger, clock: clock, console: console, client: client)
            )
        }
        await ledger.close()
    }

    /// What Apple sent about the first lives, recorded when it arrived: some of it late, and nothing
    /// before what was recorded already.
    func fill(_ lives: Int) async throws {
        let sent = Array(TestService.simulator.sampleHistory(count: lives))
        for arrival in DeliverySchedule(of: sent, seed: 18, keepsOrder: false).arrivals {
            clock.advance(
                milliseconds: max(0, arrival.arrivesAt.milliseconds - clock.now.milliseconds)
            )
            _ = try await ledger.ingest(
                arrival.delivery.payload,
                source: "test",
                receivedAt: clock.now
            )
        }
    }

    /// What Apple sent about the first lives, and the tables of it.
    func build(_ lives: Int) async throws {
        try await fill(lives)
        _ = try await ledger.projector.rebuild()
    }

    /// A new token with these roles.
    func token(_ roles: TokenRole..., named name: String = "helper") async throws -> AccessToken {
        let token = AccessToken.random(named: name)
        _ = try await ledger.log.add(token, Set(roles))
        return token
    }

    /// The cookie of a session of a new token.
    func session(_ roles: TokenRole..., named name: String = "helper") async throws -> String {
        let token = AccessToken.random(named: name)
        _ = try await ledger.log.add(token, Set(roles))
        let answer = try await get(console.signInPath(for: token))
        #expect(answer.status == 200)
        return try #require(answer.cookie)
    }

    func get(_ path: String, cookie: String? = nil) async throws -> TestService.Answer {
        try await send(.get, path, cookie: cookie)
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        cookie: String? = nil,
        body: String? = nil,
        headers given: [String: String] = [:]
    ) async throws -> TestService.Answer {
        var headers = HTTPFields()
        if let cookie { headers[.cookie] = "other=1; \(cookie)" }
        for (name, value) in given {
            headers[try #require(HTTPField.Name(name))] = value
        }
        let response = try await client.executeRequest(
            uri: path,
            method: method,
            headers: headers,
            body: body.map { ByteBuffer(string: $0) }
        )
        return TestService.Answer(
            status: response.status.code,
            headers: response.headers,
            body: Array(buffer: response.body)
        )
    }
}

extension TestService.Answer {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The page without its two lists of times, which are always those of everything known.
    var withoutTimes: String {
        text.replacing(/(?s)<nav class="times".*?<\/nav>/, with: "")
    }

    /// The session that the answer begins, with the name of its cookie; nil if it begins none.
    var cookie: String? {
        headers[.setCookie]?.firstMatch(of: /^(subledger_session_[0-9a-f]{8}=[0-9a-f]{64});/)
            .map { String($0.1) }
    }
}
