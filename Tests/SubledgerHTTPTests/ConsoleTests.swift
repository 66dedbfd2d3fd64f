import EventLog
import Events
import Foundation
import HTTPTypes
import Postgres
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The pages of the console, and who may see them.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsoleTests {
    private static func pages(_ id: String) -> [String] {
        [
            "/console", "/console/customer?id=\(id)", "/console/events/1",
            "/console/events/1/without", "/console/events/1/payload",
        ]
    }

    @Test func `without a session there is no data, only the page that signs in`() async throws {
        try await TestConsole.run { console in
            try await console.fill(2)
            let stream = try #require(try await console.ledger.log.streams(limit: 1).first)
            let product = try #require(stream.productIds.first)
            let token = try await console.token(.admin)
            let cookie = try await console.session(.support, named: "other")
            for path in Self.pages(stream.originalTransactionId) {
                let answer = try await console.get(path, cookie: cookie)
                #expect(answer.status == 200, "\(path): \(answer.text.prefix(2000))")
                // A token of programs does not open pages, and a page's session no other routes.
                for headers in [[:], ["Authorization": "Bearer \(token.text)"]] {
                    let refused = try await console.send(.get, path, headers: headers)
                    #expect(refused.status == 401)
                    #expect(refused.text.contains("<h1>Sign in to Subledger</h1>"))
                    #expect(!refused.text.contains(product))
                    // Only the address that was asked for.
                    let asked = refused.text.replacing(HTML("\(path)").text, with: "")
                    #expect(!asked.contains(stream.originalTransactionId))
                }
                #expect(try await console.get(path, cookie: "00ff").status == 401)
                #expect(try await console.send(.head, path).status == 401)
            }
            let api = "/v1/subscriptions/\(stream.originalTransactionId)/periods"
            #expect(try await console.get(api, cookie: cookie).status == 401)
        }
    }

    @Test func `a link signs in once, with a cookie that no script and no other site can use`()
        async throws
    {
        try await TestConsole.run { console in
            let path = console.console.signInPath(for: try await console.token(.support))
            #expect(try await console.send(.head, path).cookie == nil)
            let answer = try await console.get(path)
            let cookie = try #require(answer.cookie)
            let attributes = try #require(answer.headers[.setCookie]).split(separator: "; ")
            #expect(
                attributes.dropFirst() == [
                    "Path=/console", "Max-Age=43200", "HttpOnly",
                    "SameSite=Strict",
                ]
            )
            let again = try await console.get(path)
            #expect(again.status == 401 && again.cookie == nil)
            #expect(try await console.get("/console", cookie: cookie).status == 200)
            let out = try await console.send(.post, "/console/sign-out", cookie: cookie, body: "")
            #expect(out.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(try await console.get("/console", cookie: cookie).status == 401)
        }
    }

    @Test func `the roles of the token apply, and so does its revocation`() async throws {
        var limits = ServiceLimits()
        limits.tokenSecondsMax = 0
        try await TestConsole.run(limits: limits) { console in
            let token = try await console.token(.support)
            let ingest = try await console.token(.ingest, named: "app")
            func signIn(_ token: String, from site: String) async throws -> TestService.Answer {
                try await console.send(
                    .post,
                    "/console/sign-in",
                    body: "token=\(token)",
                    headers: ["Sec-Fetch-Site": site]
                )
            }
            #expect(try await signIn(token.text, from: "cross-site").status == 403)
            #expect(try await signIn(ingest.text, from: "same-origin").status == 403)
            #expect(try await signIn("sl_helper_00", from: "same-origin").status == 401)
            let cookie = try #require(try await signIn(token.text, from: "same-origin").cookie)
            #expect(try await console.get("/console", cookie: cookie).status == 200)
            let other = try await console.session(.analyst, named: "analyst")
            #expect(try await console.get("/console", cookie: other).status == 403)
            _ = try await console.ledger.log.revokeToken(named: "helper")
            #expect(try await console.get("/console", cookie: cookie).status == 401)
        }
    }

    @Test func `whoever signs in gets the page that was asked for, and only one of the console`()
        async throws
    {
        try await TestConsole.run { console in
            let token = try await console.token(.support)
            let wanted = "/console/customer?id=anna&at=2026-03-03"
            let refused = try await console.get(wanted)
            #expect(refused.status == 401)
            let escaped = HTML("\(wanted)").text
            #expect(refused.text.contains("name=\"to\" value=\"\(escaped)\""))
            #expect(refused.text.contains("<a href=\"\(escaped)\">Open the page again"))
            #expect(!(try await console.get("/console/live")).text.contains("name=\"to\""))
            for (to, leads) in [
                ("%2Fconsole%2Fcustomer%3Fid%3Danna%26at%3D2026-03-03", escaped),
                ("%2F%2Fexample.com%2Fconsole", "/console"),
                ("https%3A%2F%2Fexample.com", "/console"),
                ("%2Fconsole%2F%2Fexample.com", "/console"), ("%2Fconsoles", "/console"),
                ("%2Fconsole%2Fsign-in%3Fcode%3D1", "/console"),
                ("%2Fconsole%2F%0D%0ASet-Cookie%3A", "/console"),
            ] {
                let page = try await console.send(
                    .post,
                    "/console/sign-in",
                    body: "token=\(token.text)&to=\(to)"
                )
                #expect(page.status == 200)
                #expect(page.text.contains("<a href=\"\(leads)\">Continue"), "\(to)")
                #expect(page.text.contains("content=\"0; url=\(leads)\""), "\(to)")
            }
            // What was typed stays, to be corrected.
            let cookie = try await console.session(.support, named: "other")
            let unknown = try await console.get(wanted, cookie: cookie)
            #expect(unknown.status == 404 && unknown.text.contains("<h1>Nothing found"))
            #expect(unknown.text.contains("value=\"anna\""))
            #expect(unknown.text.contains("value=\"2026-03-03\""))
        }
    }

    @Test func `both verdicts and the summary are those of explain`() async throws {
        try await TestConsole.run { console in
            try await console.fill(8)
            let cookie = try await console.session(.support)
            let streams = try await console.ledger.log.streams(limit: 100)
            let seed = UInt64.random(in: 0...999_999)
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<24 {
                let stream = try #require(streams.randomElement(using: &generator))
                let periods = try await console.ledger.periods(
                    of: SubjectID(stream.originalTransactionId, in: stream.environment)
                ).periods
                // A one-time purchase has none.
                guard let first = periods.map(\.validFrom.milliseconds).min(),
                    let last = periods.map(\.validTo.milliseconds).max()
                else { continue }
                let at = Int64.random(in: first - 86_400_000...last, using: &generator)
                let id = stream.originalTransactionId
                let page = try await console.get(
                    "/console/customer?id=\(id)&environment=\(stream.environment.word)&at=\(at)",
                    cookie: cookie
                )
                let answer = try await console.ledger.explain(
                    SubjectID(id, in: stream.environment),
                    at: Instant(milliseconds: at)
                )
                func word(_ access: Bool?) -> String {
                    access.map { $0 ? "yes" : "no" } ?? "unknown"
                }
                let shown = page.text.matches(of: /verdict-card (\w+)/).map { String($0.1) }
                let wanted = [answer.entitled.access, answer.served.access].map(word)
                #expect(shown == wanted, "seed \(seed), \(id) at \(at)")
                #expect(page.text.contains(HTML("\(answer.summary)").text), "seed \(seed), \(id)")
            }
        }
    }

    @Test func `an address with both times gives the same page after more events`() async throws {
        try await TestConsole.run { console in
            try await console.fill(2)
            let cookie = try await console.session(.support)
            let stream = try #require(try await console.ledger.log.streams(limit: 1).first)
            let page = try await console.get(
                "/console/customer?id=\(stream.originalTransactionId)&at=2025-06-01T10:00:00Z",
                cookie: cookie
            )
            let link = try #require(page.text.firstMatch(of: /To cite this page[^"]*"([^"]+)"/)?.1)
            let address = String(link).replacing("&amp;", with: "&")
            #expect(address.contains("at=1748772000000&known-at="))
            let first = try await console.get(address, cookie: cookie)
            try await console.fill(6)
            let second = try await console.get(address, cookie: cookie)
            #expect(first.status == 200)
            #expect(first.withoutTimes == second.withoutTimes)
        }
    }

    @Test func `a misspelt time is refused, so that no page is taken for a bounded one`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.fill(1)
            let cookie = try await console.session(.support)
            let stream = try #require(try await console.ledger.log.streams(limit: 1).first)
            let id = stream.originalTransactionId
            for path in ["customer?id=\(id)&knownAt=1", "events/1/without?knownAt=1"] {
                let page = try await console.get("/console/\(path)", cookie: cookie)
                #expect(page.status == 400, "\(path)")
                #expect(page.text.contains("no parameter &quot;knownAt&quot;"), "\(path)")
            }
        }
    }

    @Test func `names and payloads are text, and a page may load only its own style and script`()
        async throws
    {
        let hostile = "'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"
        try await TestConsole.run { console in
            let payload = TestService.purchase(
                hostile,
                "Sandbox",
                hostile,
                at: Instant(milliseconds: 1_750_000_000_000)
            )
            let ingestion = try await console.ledger.ingest(Array(payload.utf8), source: hostile)
            #expect(ingestion.outcomes.contains { $0.isNew })
            let cookie = try await console.session(.support)
            let id = try #require(
                hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            )
            for path in Self.pages(id).dropLast() + ["/console/customer?id=%3Cscript%3E"] {
                let page = try await console.get(path, cookie: cookie)
                #expect(page.status == (path.hasSuffix("%3E") ? 404 : 200), "\(path)")
                let text = page.text
                for word in ["<script>", "<img", " style=", "javascript:", "http://"] {
                    #expect(!text.contains(word), "\(path) contains \(word)")
                }
                #expect(text.contains("&lt;script&gt;"), "\(path)")
                let document = try XMLDocument(
                    xmlString: String(text.dropFirst("<!DOCTYPE html>".count))
                )
                let active = try document.nodes(
                    forXPath: "//*[local-name()='script' or local-name()='img' or @onerror]"
                )
                let script = active.first as? XMLElement
                #expect(active.count == 1 && script?.name == "script", "\(path)")
                #expect(script?.attribute(forName: "src")?.stringValue == "/console/console.js")
                #expect(script?.stringValue == "", "\(path)")
                let policy = try #require(page.headers[.contentSecurityPolicy])
                #expect(
                    policy == "default-src 'none'; style-src 'self'; img-src data:; "
                        + "script-src 'self'; connect-src 'self'; form-action 'self'; "
                        + "base-uri 'none'; frame-ancestors 'none'"
                )
                #expect(page.headers[.cacheControl] == "no-store")
            }
        }
    }

    @Test func `who looked at whom is audited, and not answered without its record`()
        async throws
    {
        var limits = ServiceLimits()
        limits.auditDays = 30
        try await TestConsole.run(limits: limits) { console in
            try await console.fill(1)
            let cookie = try await console.session(.support, named: "anna")
            let stream = try #require(try await console.ledger.log.streams(limit: 1).first)
            let paths = Self.pages(stream.originalTransactionId)
            for path in paths { _ = try await console.get(path, cookie: cookie) }
            let session = try await PostgresSession.connect(console.ledger.log.settings)
            let rows = try await session.query(
                "SELECT token, question, subject FROM operation.audit ORDER BY asked_at"
            )
            let audited = try rows.map { row in
                [try row.text(0), try row.text(1), try row.text(2)]
            }
            #expect(
                audited == [
                    ["anna", "newest-events", ""],
                    ["anna", "customer", stream.originalTransactionId], ["anna", "event", "1"],
                    ["anna", "without-event", "1"], ["anna", "payload", "1"],
                ]
            )
            try await session.execute("ALTER TABLE operation.audit RENAME TO other")
            for path in paths {
                #expect(try await console.get(path, cookie: cookie).status == 500, "\(path)")
            }
            await session.close()
        }
    }
}
