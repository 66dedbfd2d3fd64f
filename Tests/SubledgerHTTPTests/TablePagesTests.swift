import EventLog
import Events
import Foundation
import HTTPTypes
import Postgres
import Projector
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The console's pages of tables: how far they are, what waits, and its promotion.
@Suite(.enabled { await TestServer.isAvailable })
struct TablePagesTests {
    @Test func `a table behind the log is named, with how far it is behind`() async throws {
        try await TestConsole.run { console in
            try await console.fill(2)
            let cookie = try await console.session(.operator)
            let none = try await console.get("/console/tables", cookie: cookie).text
            #expect(none.contains("No tables exist yet"))
            _ = try await console.ledger.projector.rebuild()
            let even = try await console.get("/console/tables", cookie: cookie).text
            #expect(!even.contains("Behind the log"))
            #expect(even.contains("contain the log&#39;s newest events"))

            try await console.fill(4)
            let page = try await console.get("/console/tables", cookie: cookie).text
            let tables = try await console.ledger.projector.tables()
            #expect(!tables.isEmpty && tables.allSatisfy { $0.lag > 0 })
            for table in tables {
                #expect(page.contains("\(table.name) by \(table.lag) event"), "\(table.name)")
                #expect(page.contains(String(table.digest.hex.prefix(12))), "\(table.name)")
                #expect(
                    page.contains(
                        "<td class=\"number\">\(table.lag)</td><td class=\"number\">\(table.rows)</td>"
                    )
                )
            }
        }
    }

    @Test func `waiting tables are promoted once, after a question, and by no foreign form`()
        async throws
    {
        var limits = ServiceLimits()
        limits.auditDays = 30
        try await TestConsole.run(limits: limits) { console in
            try await console.fill(2)
            let projector = console.ledger.projector
            _ = try await projector.rebuild()
            _ = try await projector.compare(then: .wait)
            let waiting = try await projector.tables().filter { $0.state == .ready }
            let cookie = try await console.session(.operator, named: "olga")
            let support = try await console.session(.support, named: "anna")
            let path = "/console/tables/promotion"
            let list = try await console.get("/console/tables", cookie: cookie).text
            #expect(list.contains("action=\"\(path)\""))

            let question = try await console.get(path, cookie: cookie).text
            let field = try #require(question.firstMatch(of: /name="tables" value="([^"]+)"/)?.1)
            let names = waiting.map { "\($0.schema).\($0.name)" }.sorted().joined(separator: " ")
            #expect(field == names)
            for table in waiting { #expect(question.contains("projection.\(table.name)")) }

            #expect(try await console.promote(names, cookie, from: "cross-site").status == 403)
            #expect(try await console.promote(names, cookie, from: "same-site").status == 403)
            #expect(try await console.promote(names, support, from: "same-origin").status == 403)
            #expect(try await console.promote(names, nil, from: "same-origin").status == 401)
            let other = try await console.promote(
                "projection_0.customers",
                cookie,
                from: "same-origin"
            )
            #expect(other.status == 409 && other.text.contains("nothing was promoted"))
            let untouched = try await projector.tables().filter { $0.state == .ready }
            #expect(untouched.map(\.schema) == waiting.map(\.schema))

            let done = try await console.promote(names, cookie, from: "same-origin")
            #expect(done.status == 200, "\(done.text.prefix(2000))")
            #expect(done.text.contains("<h1>\(waiting.count) tables promoted</h1>"))
            #expect(done.text.contains("Locks were held for "))
            let tables = try await projector.tables()
            #expect(tables.allSatisfy { $0.state == .live })
            #expect(Set(tables.map(\.schema)) == Set(waiting.map(\.schema)))
            #expect(try await console.promote(names, cookie, from: "same-origin").status == 409)
            #expect(try await console.get(path, cookie: cookie).status == 409)

            let audited = try await console.audited("promotion")
            #expect(audited.filter { $0 == ["olga", names] }.count == 2)
            #expect(audited.allSatisfy { $0[0] == "olga" })
        }
    }

    @Test func `the difference is shown with its pictures to whom may see customers`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.fill(4)
            let projector = console.ledger.projector
            _ = try await projector.rebuild()
            let path = "/console/tables/difference"
            let cookie = try await console.session(.operator, named: "olga")
            #expect(try await console.get(path, cookie: cookie).status == 409)
            _ = try await projector.compare(then: .wait)
            let equal = try await console.get(path, cookie: cookie)
            #expect(equal.status == 200 && equal.text.contains("No differences."))

            let table = try #require(
                try await projector.tables()
                    .first { $0.state == .ready && $0.name == "active_periods" }
            )
            let settings = console.ledger.log.settings
            let session = try await PostgresSession.connect(settings)
            let name = "\(table.schema).active_periods"
            let id = try await session.query(
                "SELECT min(original_transaction_id) FROM \(name)"
            ).single().text(0)
            try await session.execute(
                "DELETE FROM \(name) WHERE original_transaction_id = '\(id)'"
            )
            await session.close()

            let page = try await console.get(path, cookie: cookie).text
            #expect(page.contains("-removed") && !page.contains(id) && !page.contains("<article>"))
            let both = try await console.session(.operator, .support, named: "both")
            let shown = try await console.get(path, cookie: both).text
            #expect(shown.contains(id) && shown.contains("<article>"))
            #expect(shown.contains("class=\"scroll picture\""))
        }
    }

    @Test(
        .enabled("the tests' own server lets every role in") {
            ProcessInfo.processInfo.environment["SUBLEDGER_TEST_DATABASE_URL"] == nil
        }
    )
    func `a service that may not change tables shows why, and the command`() async throws {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            let token = AccessToken.random(named: "olga")
            try await TestConsole.run(on: settings) { console in
                try await console.fill(2)
                _ = try await console.ledger.log.add(token, [.operator])
                _ = try await console.ledger.projector.rebuild()
                _ = try await console.ledger.projector.compare(then: .wait)
            }
            let login = "console_\(ProcessInfo.processInfo.processIdentifier)"
            try await settings.meddle("CREATE ROLE \(login) LOGIN")
            try await settings.meddle("GRANT ledger_writer TO \(login)")
            try await TestConsole.run(on: settings.loggedIn(as: login)) { console in
                let begun = try await console.get(console.console.signInPath(for: token))
                let cookie = try #require(begun.cookie)
                let page = try await console.get("/console/tables", cookie: cookie)
                #expect(page.status == 200, "\(page.text.prefix(2000))")
                #expect(page.text.contains("GRANT ledger_projector TO \(login)"))
                #expect(page.text.contains("subledger tables promote"))
                #expect(!page.text.contains("<form method=\"get\" action=\"/console/tables"))
                let tables = try await console.ledger.projector.tables()
                let names = tables.filter { $0.state == .ready }
                    .map { "\($0.schema).\($0.name)" }.sorted().joined(separator: "+")
                let refused = try await console.send(
                    .post,
                    "/console/tables/promotion",
                    cookie: cookie,
                    body: "tables=\(names)"
                )
                #expect(refused.status == 403, "\(refused.text.prefix(2000))")
                #expect(refused.text.contains("as a user that may"))
            }
            try await settings.meddle("DROP OWNED BY \(login)")
            try await settings.meddle("DROP ROLE \(login)")
        }
    }
}

extension TestConsole {
    /// Sends the form that promotes these tables.
    fileprivate func promote(
        _ tables: String,
        _ cookie: String?,
        from site: String
    ) async throws -> TestService.Answer {
        try await send(
            .post,
            "/console/tables/promotion",
            cookie: cookie,
            body: "tables=" + tables.replacing(" ", with: "+"),
            headers: ["Sec-Fetch-Site": site]
        )
    }

    /// Who asked, and about what.
    fileprivate func audited(_ question: String) async throws -> [[String]] {
        let session = try await PostgresSession.connect(ledger.log.settings)
        let rows = try await session.query(
            "SELECT token, subject FROM operation.audit WHERE question = $1",
            [.text(question)]
        )
        await session.close()
        return try rows.map { row in [try row.text(0), try row.text(1)] }
    }
}
