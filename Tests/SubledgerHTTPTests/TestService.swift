import AppStore
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
import SubledgerHTTP
import SubledgerTesting
import TestSupport
import Testing

/// A ledger behind HTTP on a port of this machine.
struct TestService {
    static let simulator = AppStoreSimulator(seed: 18)

    let ledger: Ledger
    let client: any TestClientProtocol

    /// An answer.
    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        /// The body as JSON.
        var json: [String: Any] {
            get throws {
                try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:]
            }
        }
    }

    static func run(
        limits: ServiceLimits = .unhurried,
        sandbox: SandboxPolicy = .never,
        signer: EntitlementSigner? = nil,
        trustedProxies: [AddressRange] = [],
        logger: Logger = Logger(label: "test"),
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await run(
                on: settings,
                limits: limits,
                sandbox: sandbox,
                signer: signer,
                trustedProxies: trustedProxies,
                logger: logger,
                clock: clock,
                body
            )
        }
    }

    /// The same, on the caller's database.
    static func run(
        on settings: ConnectionSettings,
        _ options: EventLog.Options = EventLog.Options(),
        verifier: AppStoreVerifier? = nil,
        limits: ServiceLimits = .unhurried,
        sandbox: SandboxPolicy = .never,
        signer: EntitlementSigner? = nil,
        refresh: CustomerRefresh? = nil,
        trustedProxies: [AddressRange] = [],
        logger: Logger = Logger(label: "test"),
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        _ body: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        var options = options
        options.readersMax = 1
        let ledger = Ledger(
            log: try await EventLog.open(settings, options),
            verifier: try verifier ?? simulator.verifier()
        )
        let routes = LedgerRoutes(
            ledger,
            limits: limits,
            sandbox: sandbox,
            signer: signer,
            trustedProxies: trustedProxies,
            logger: logger,
            clock: clock
        )
        .refreshing(by: refresh)
        let application = Application(
            router: LedgerServer.router(of: routes),
            server: LedgerServer.http(for: routes),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: logger
        )
        try await application.test(.live) { client in
            try await body(TestService(ledger: ledger, client: client))
        }
        await ledger.close()
    }

    /// A token with these roles.
    func token(_ roles: TokenRole..., named name: String = "test") async throws -> String {
        let token = AccessToken.random(named: name)
        _ = try await ledger.log.add(token, Set(roles))
        return token.text
    }

    func get(
        _ path: String,
        token: String? = nil,
        headers: HTTPFields = HTTPFields()
    ) async throws -> Answer {
        try await send(.get, path, nil, token, headers)
    }

    func post(_ path: String, _ body: [UInt8], token: String? = nil) async throws -> Answer {
        try await send(.post, path, body, token)
    }

    func post(_ path: String, json: Any, token: String? = nil) async throws -> Answer {
        let data = try JSONSerialization.data(withJSONObject: json)
        return try await send(.post, path, [UInt8](data), token)
    }

    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [UInt8]? = nil,
        _ token: String? = nil,
        _ headers: HTTPFields = HTTPFields()
    ) async throws -> Answer {
        var headers = headers
        if let token { headers[.authorization] = "Bearer \(token)" }
        let response = try await client.executeRequest(
            uri: path,
            method: method,
            headers: headers,
            body: body.map(ByteBuffer.init(bytes:))
        )
        let answer = Answer(
            status: response.status.code,
            headers: response.headers,
            body: Array(buffer: response.body)
        )
        for fault in try ServiceDescription.kept.get().faults(of: answer, to: method, path) {
            Issue.record("\(method) \(path) does not answer as it is described: \(fault)")
        }
        return answer
    }

    /// An App Store in the test's hands that the service trusts.
    static func store(
        _ environment: StoreEnvironment = .production,
        at now: Instant
    ) -> TestStore {
        TestStore(
            now: now,
            environment: environment,
            bundleId: "com.example.app",
            seed: simulator.seed
        )
    }

    /// A purchase of five minutes as Apple signs it.
    static func purchase(
        _ id: String,
        _ environment: String,
        _ product: String,
        at instant: Instant
    ) -> String {
        let start = instant.milliseconds
        let json = """
            {"transactionId":"\(id)","originalTransactionId":"\(id)",\
            "webOrderLineItemId":"\(id)","bundleId":"com.example.app",\
            "productId":"\(product)","subscriptionGroupIdentifier":"20",\
            "purchaseDate":\(start),"originalPurchaseDate":\(start),\
            "expiresDate":\(start + 300_000),"quantity":1,\
            "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
            "signedDate":\(start + 500),"environment":"\(environment)",\
            "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441"}
            """
        let jws = simulator.store.pki.sign(payloadJSON: Array(json.utf8))
        return String(decoding: jws, as: UTF8.self)
    }

    /// Apple's notifications about the first lives, as often as Apple sends them.
    static func notifications(_ lives: Int) -> [[UInt8]] {
        simulator.sampleHistory(count: lives).filter { $0.channel == .notification }.map(\.payload)
    }
}

extension TestTemplate {
    /// An empty ledger.
    static let served = TestTemplate("served") { settings in
        _ = try await Migrator.migrate(settings, .single)
    }
}

extension ServiceLimits {
    /// The limits of a service that gives up no answer because the machine is busy with other tests.
    static var unhurried: ServiceLimits {
        var limits = ServiceLimits()
        limits.answerSecondsMax = 3600
        return limits
    }
}
