import EventLog
import Events
import Foundation
import HTTPTypes
import Postgres
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Who may use which route.
@Suite(.enabled { await TestServer.isAvailable })
struct TokenTests {
    private let question = "/v1/customers/nobody/access"

    @Test func `a question needs a token with the right role`() async throws {
        try await TestService.run { service in
            let uploader = try await service.token(.ingest, named: "uploader")
            let helper = try await service.token(.support, named: "helper")
            let admin = try await service.token(.admin, named: "admin")
            #expect(try await service.get(question).status == 401)
            #expect(try await service.get(question).headers[.wwwAuthenticate] == "Bearer")
            #expect(try await service.get(question, token: "sl_helper_00").status == 401)
            #expect(try await service.get(question, token: helper + "0").status == 401)
            #expect(try await service.get(question, token: uploader).status == 403)
            #expect(try await service.get(question, token: helper).status == 404)
            #expect(try await service.get(question, token: admin).status == 404)
            let upload = ["signedTransactions": ["x"]]
            let path = "/v1/transactions"
            #expect(try await service.post(path, json: upload).status == 401)
            #expect(try await service.post(path, json: upload, token: helper).status == 403)
            #expect(try await service.post(path, json: upload, token: uploader).status == 400)
        }
    }

    // The table of the article: method, path and roles of each route.
    private static func routes() throws -> [(HTTPRequest.Method, String, Set<TokenRole>)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appendingPathComponent("Sources/Subledger/Subledger.docc/Operating.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let row = #/\n\| (?<routes>`(?:GET|POST) [^|]*) \| (?<roles>[^|]*) \|/#
        return text.matches(of: row).flatMap { row in
            let roles = row.roles.matches(of: /`(\w+)`/).compactMap {
                TokenRole(rawValue: String($0.1))
            }
            return row.routes.matches(of: /`(GET|POST) (\S+)`/).map { route in
                let method: HTTPRequest.Method = route.1 == "GET" ? .get : .post
                return (method, String(route.2), Set(roles))
            }
        }
    }

    // A path without the names of its parameters.
    private static func unnamed(_ path: String) -> String { path.replacing(/{\w+}/, with: "{}") }

    @Test(arguments: TokenRole.allCases)
    func `a role opens the routes that the article lists for it and no others, and admin opens all`(
        role: TokenRole
    ) async throws {
        let routes = try Self.routes()
        try await TestService.run { service in
            let description = try await service.get("/openapi.json").json["paths"]
            let paths = try #require(description as? [String: Any])
            for path in paths.keys {
                let isListed = routes.contains { route in
                    let listed = Self.unnamed(route.1)
                    return listed.hasSuffix("…")
                        ? Self.unnamed(path).hasPrefix(listed.dropLast())
                        : Self.unnamed(path) == listed
                }
                #expect(isListed, "the article does not list \(path)")
            }
            let token = try await service.token(role)
            for (method, path, roles) in routes {
                let place = path.replacing("/…", with: "/access").replacing(/{\w+}/, with: "1")
                let body: [UInt8]? = method == .post ? [] : nil
                let answer = try await service.send(method, place, body, token)
                let isOpen = role == .admin || roles.isEmpty || roles.contains(role)
                #expect((answer.status != 403) == isOpen, "\(role) \(path) \(answer.status)")
                #expect(answer.status != 401, "\(role) \(path)")
                guard !isOpen else { continue }
                #expect(try answer.json["code"] as? String == "role-missing", "\(role) \(path)")
            }
        }
    }

    @Test func `a token is refused once it has expired`() async throws {
        let clock = SetClock(.systemClock())
        try await TestService.run(clock: { clock.now }) { service in
            let token = AccessToken.random(named: "brief")
            let hour: Int64 = 3_600_000
            #expect(try await service.ledger.log.add(token, [.support], lifetime: 3 * hour))
            #expect(try await service.get(question, token: token.text).status == 404)
            clock.advance(milliseconds: 2 * hour)
            #expect(try await service.get(question, token: token.text).status == 404)
            clock.advance(milliseconds: 2 * hour)
            let refused = try await service.get(question, token: token.text)
            #expect(refused.status == 401)
            #expect(try refused.json["code"] as? String == "token-expired")
        }
    }

    @Test func `a token with a rate is refused beyond it, until the next minute`() async throws {
        let clock = SetClock(Instant(milliseconds: 1_760_000_040_000 / 60_000 * 60_000 + 20_000))
        try await TestService.run(clock: { clock.now }) { service in
            let limited = AccessToken.random(named: "limited")
            let log = service.ledger.log
            #expect(try await log.add(limited, [.support], requestsPerMinute: 3))
            let free = try await service.token(.support)
            for _ in 0..<3 {
                #expect(try await service.get(question, token: limited.text).status == 404)
            }
            let refused = try await service.get(question, token: limited.text)
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] == "40")
            #expect(try refused.json["code"] as? String == "token-rate")
            #expect(try await service.get(question, token: free).status == 404)
            clock.advance(milliseconds: 40_000)
            #expect(try await service.get(question, token: limited.text).status == 404)
        }
    }

    @Test
    func `a revoked token is refused once the cached tokens expire, and its name stays taken`()
        async throws
    {
        let clock = SetClock(Instant(milliseconds: 1_760_000_000_000))
        var limits = ServiceLimits()
        limits.tokenSecondsMax = 7
        try await TestService.run(limits: limits, clock: { clock.now }) { service in
            let token = try await service.token(.support)
            #expect(try await service.get(question, token: token).status == 404)
            #expect(try await service.ledger.log.revokeToken(named: "test"))
            clock.advance(milliseconds: 6999)
            #expect(try await service.get(question, token: token).status == 404)
            clock.advance(milliseconds: 1)
            #expect(try await service.get(question, token: token).status == 401)
            let other = AccessToken.random(named: "test")
            #expect(try await !service.ledger.log.add(other, [.support]))
            #expect(try await service.get(question, token: other.text).status == 401)
        }
    }

    @Test func `setting the clock back does not keep a revoked token valid`() async throws {
        let clock = SetClock(Instant(milliseconds: 1_760_000_000_000))
        try await TestService.run(clock: { clock.now }) { service in
            let token = try await service.token(.support)
            #expect(try await service.get(question, token: token).status == 404)
            #expect(try await service.ledger.log.revokeToken(named: "test"))
            clock.advance(milliseconds: -1)
            #expect(try await service.get(question, token: token).status == 401)
        }
    }

    @Test
    func `many requests read the tokens once; guessed names cause at most ten reads a second`()
        async throws
    {
        try await TestService.run(clock: { Instant(milliseconds: 1_760_000_000_000) }) { service in
            let token = try await service.token(.support)
            #expect(try await service.get(question, token: token).status == 404)
            let readings = try await service.tokenReadings(token)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { _ = try await service.get(question, token: token) }
                }
                try await group.waitForAll()
            }
            #expect(try await service.tokenReadings(token) == readings)
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        _ = try await service.get(question, token: "sl_guess\(number)_00")
                    }
                }
                try await group.waitForAll()
            }
            let most = 1 + Int((ContinuousClock.now - start) / .milliseconds(100))
            let more = try await service.tokenReadings(token) - readings
            #expect((1...most).contains(more), "\(more) readings, at most \(most)")
        }
    }

    @Test func `the last use is recorded at most once a minute`() async throws {
        let clock = SetClock(Instant(milliseconds: 1_760_000_000_000))
        try await TestService.run(clock: { clock.now }) { service in
            let token = try await service.token(.support)
            func use(after last: Instant?) async throws -> Instant? {
                for _ in 0..<500 {
                    _ = try await service.get(question, token: token)
                    let used = try await service.ledger.log.tokens().first?.lastUsedAt
                    if used != last { return used }
                }
                return last
            }
            let first = try #require(try await use(after: nil))
            // The database's clock decides too, and the test can set back only the last use.
            try await service.setLastUse(secondsAgo: 61)
            let older = try #require(try await service.ledger.log.tokens().first?.lastUsedAt)
            #expect(older < first)
            clock.advance(milliseconds: 59_999)
            for _ in 0..<20 { _ = try await service.get(question, token: token) }
            #expect(try await service.ledger.log.tokens().first?.lastUsedAt == older)
            clock.advance(milliseconds: 1)
            #expect(try #require(try await use(after: older)) >= first)
        }
    }

    @Test func `health needs no token`() async throws {
        try await TestService.run { service in
            for (path, status) in [
                ("/livez", 200), ("/readyz", 200), ("/openapi.json", 200), ("/metrics", 401),
                ("/v1/nowhere", 404), ("/nowhere", 404),
            ] {
                let answer = try await service.get(path)
                #expect(answer.status == status, "\(path)")
            }
        }
    }

    @Test func `an unknown route is a problem document, and a wrong method names the allowed ones`()
        async throws
    {
        try await TestService.run { service in
            for (method, path, status, code) in [
                (.get, "/nowhere", 404, "unknown-route"), (.get, "/", 404, "unknown-route"),
                (.put, "/v1/nowhere", 404, "unknown-route"),
                (.delete, "/v1/checkpoint", 405, "method-not-allowed"),
                (.get, "/v1/transactions", 405, "method-not-allowed"),
                (.post, "/v1/customers/anna/access", 405, "method-not-allowed"),
                (HTTPRequest.Method("PROPFIND") ?? .get, "/livez", 405, "method-not-allowed"),
            ] as [(HTTPRequest.Method, String, Int, String)] {
                let answer = try await service.send(method, path)
                #expect(answer.status == status, "\(method) \(path)")
                #expect(try answer.json["code"] as? String == code, "\(method) \(path)")
                #expect(answer.headers[.contentType] == "application/problem+json")
                #expect((answer.headers[.allow] == nil) == (status == 404))
            }
            let uploads = try await service.send(.get, "/v1/transactions")
            #expect(uploads.headers[.allow] == "POST")
            let questions = try await service.send(.post, "/v1/customers/anna/access")
            #expect(questions.headers[.allow] == "GET, HEAD")
            let head = try await service.send(.head, "/livez")
            #expect(head.status == 200 && head.body.isEmpty)
            let token = try await service.token(.support)
            let metrics = try await service.get("/metrics", token: token)
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(!text.contains("PROPFIND") && !text.contains("nowhere"))
            #expect(text.contains(#"{method="none",route="none",status="405"}"#), "\(text)")
        }
    }

    @Test(arguments: ["", "a b", "a_b", "\u{e9}", String(repeating: "a", count: 65)])
    func `a token name that does not fit into a header is refused`(name: String) {
        #expect(!AccessToken.isName(name))
    }

    @Test func `a token survives the round trip through text`() throws {
        let token = AccessToken.random(named: "a-b.c")
        #expect(AccessToken(token.text)?.name == "a-b.c")
        #expect(AccessToken(token.text)?.digest == token.digest)
        #expect(AccessToken("sl_") == nil && AccessToken("sl__x") == nil && AccessToken("") == nil)
    }
}

extension TestService {
    /// How often the tokens were read from the database.
    fileprivate func tokenReadings(_ token: String) async throws -> Int {
        let metrics = try await get("/metrics", token: token)
        let text = String(decoding: metrics.body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("subledger_token_readings") }
        return try #require(line.flatMap { Int($0.drop { $0 != " " }.dropFirst()) })
    }

    /// Moves the last use of all tokens into the past.
    fileprivate func setLastUse(secondsAgo: Int) async throws {
        let session = try await PostgresSession.connect(ledger.log.settings)
        try await session.execute(
            "UPDATE operation.token SET last_used_at = now() - interval '\(secondsAgo) seconds'"
        )
        await session.close()
    }
}
