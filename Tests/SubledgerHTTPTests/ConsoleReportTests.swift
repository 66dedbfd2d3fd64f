import EventLog
import Events
import Foundation
import HTTPTypes
import Postgres
import Subledger
import SubledgerTesting
import TestSupport
import Testing

@testable import SubledgerHTTP

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The report pages of the console.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsoleReportTests {
    /// The cells of the table of a page, by row.
    private static func cells(of page: XMLDocument) throws -> [[String]] {
        try page.nodes(forXPath: "//*[local-name()='tbody']/*[local-name()='tr']").map { row in
            (row.children ?? []).map { $0.stringValue ?? "" }
        }
    }

    private static func document(_ answer: TestService.Answer) throws -> XMLDocument {
        try XMLDocument(xmlString: String(answer.text.dropFirst("<!DOCTYPE html>".count)))
    }

    private static func links(_ page: XMLDocument, in element: String) throws -> [String] {
        try page.nodes(forXPath: "//*[@*='\(element)']//*[local-name()='a']/@href")
            .map { $0.stringValue ?? "" }
    }

    @Test func `the list has the reports of the command in its words, and leads to each page`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.build(4)
            let cookie = try await console.session(.finance)
            let list = try await console.get("/console/reports", cookie: cookie)
            #expect(list.status == 200)
            let page = try Self.document(list)
            let entries = ReportListDocument.all.reports
            let names = list.text.matches(
                of: /<dt>(?:<a [^>]*>)?([a-z-]+)(?:<\/a>)? <small>([^<]*)<\/small>/
            ).map { "\($0.1) \($0.2)" }
            #expect(names == entries.map { "\($0.name) \($0.words)" })
            for entry in entries { #expect(list.text.contains(HTML("\(entry.definition)").text)) }
            let links = try Self.links(page, in: "reports")
            #expect(links == Report.all.map { "/console/reports/\($0.name)" })
            for link in links {
                let report = try await console.get(
                    "\(link)?environment=\(console.environment())",
                    cookie: cookie
                )
                #expect(report.status == 200, "\(link): \(report.text.suffix(600))")
            }
        }
    }

    @Test func `the picture and the table of a page show the numbers of the route`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.build(12)
            let cookie = try await console.session(.finance)
            let query = "renewals?by=month&environment=\(try await console.environment())"
            let page = try Self.document(
                try await console.get("/console/reports/\(query)", cookie: cookie)
            )
            let json = try await console.json("/v1/reports/\(query)")
            let rows = try #require(json["rows"] as? [[String: Any]])
            let columns = try #require(json["columns"] as? [[String: Any]])
            #expect(rows.count > 1)
            let names = try columns.map { try #require($0["name"] as? String) }
            #expect(
                names == [
                    "month", "payments_count", "original_payments", "automatic_payments",
                    "automatic_percent", "inferred", "is_partial",
                ]
            )
            func month(_ row: [String: Any]) -> String {
                "\(row["month"] ?? "")" + (row["isPartial"] as? Bool == true ? "*" : "")
            }
            #expect(rows.contains { month($0).hasSuffix("*") })
            func percent(_ row: [String: Any]) -> String? {
                (row["automaticPercent"] as? Double).map { String(format: "%.2f %%", $0) }
            }
            let wanted = rows.map { row in
                [month(row)]
                    + ["paymentsCount", "originalPayments", "automaticPayments"]
                    .map { "\(row[$0] ?? "")" } + [percent(row) ?? "–", "\(row["inferred"] ?? "")"]
            }
            #expect(try Self.cells(of: page) == wanted)
            let points = try page.nodes(
                forXPath: "//*[local-name()='circle']/*[local-name()='title']"
            ).map { $0.stringValue ?? "" }
            #expect(
                points
                    == rows.compactMap { row in percent(row).map { "\(month(row)): \($0)" } }
            )
            #expect(!points.isEmpty)
            let definition = try #require(json["definition"] as? String)
            let words = try page.nodes(forXPath: "//*[@class='definition']").first?.stringValue
            #expect(words == definition)
        }
    }

    @Test func `analysts see reports and no customer, support sees customers and no report`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.build(2)
            let stream = try #require(try await console.ledger.log.streams(limit: 1).first)
            let customer = "/console/customer?id=\(stream.originalTransactionId)"
            let reports = [
                "/console/reports", "/console/reports/renewals?environment=Sandbox",
                "/console/reports/renewals/csv", "/console/reports/renewals/json",
            ]
            for (role, first) in [
                (TokenRole.analyst, "/console/reports"), (.finance, "/console/reports"),
                (.support, "/console"), (.admin, "/console"),
            ] {
                let token = try await console.token(role, named: "\(role)")
                let link = try await console.get(console.console.signInPath(for: token))
                let form = try await console.send(
                    .post,
                    "/console/sign-in",
                    body: "token=\(token.text)"
                )
                for answer in [link, form] {
                    #expect(answer.status == 200)
                    #expect(answer.text.contains("content=\"0; url=\(first)\""), "\(role)")
                }
                let cookie = try #require(form.cookie)
                #expect(try await console.get(first, cookie: cookie).status == 200)
                let sees = (
                    reports: role != .support, customers: [.support, .admin].contains(role)
                )
                for path in reports {
                    let answer = try await console.get(path, cookie: cookie)
                    #expect((answer.status == 403) == !sees.reports, "\(role) \(path)")
                    #expect(try await console.get(path).status == 401, "\(path)")
                }
                // Its rows are customers.
                let isFinance = [.finance, .admin].contains(role)
                let page = try await console.get("/console/reports/payments", cookie: cookie)
                let document = try await console.send(
                    .get,
                    "/v1/reports/payments",
                    headers: ["Authorization": "Bearer \(token.text)"]
                )
                #expect(page.status == (isFinance ? 200 : 403), "\(role)")
                #expect(document.status == (isFinance ? 200 : 403), "\(role)")
                let answer = try await console.get(customer, cookie: cookie)
                #expect(answer.status == (sees.customers ? 200 : 403), "\(role)")
                let hasProduct = stream.productIds.contains { answer.text.contains($0) }
                #expect(hasProduct == sees.customers, "\(role)")
                // A page leads only to what may be seen; a refusal leads back to every part.
                let leadsOn = answer.text.contains("<a href=\"/console/reports\"")
                #expect(leadsOn == (sees.reports || !sees.customers), "\(role)")
            }
        }
    }

    @Test func `who reads payments, whose rows are customers, is audited`() async throws {
        var limits = ServiceLimits()
        limits.auditDays = 30
        try await TestConsole.run(limits: limits) { console in
            try await console.build(1)
            let token = try await console.token(.finance, named: "carla")
            let link = try await console.get(console.console.signInPath(for: token))
            let cookie = try #require(link.cookie)
            for path in ["renewals", "payments", "payments/csv", "payments/json"] {
                let answer = try await console.get("/console/reports/\(path)", cookie: cookie)
                #expect(answer.status == 200, "\(path)")
            }
            let headers = ["Authorization": "Bearer \(token.text)"]
            _ = try await console.send(.get, "/v1/reports/payments", headers: headers)
            let audited = try await PostgresSession.using(console.ledger.log.settings) { session in
                try await session.query("SELECT token, question FROM operation.audit")
                    .map { [try $0.text(0), try $0.text(1)] }
            }
            #expect(audited == Array(repeating: ["carla", "payments"], count: 4))
        }
    }

    @Test func `names of products and what was asked are text on a page`() async throws {
        let hostile = "'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;"
        let encoded = try #require(
            hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        )
        try await TestConsole.run { console in
            let store = TestService.store(.sandbox, at: Instant(milliseconds: 1_750_000_000_000))
            try await console.ledger.ingest(try store.buy(TestStore.Product(hostile)))
            _ = try await console.ledger.projector.rebuild()
            let cookie = try await console.session(.analyst)
            let query = "environment=Sandbox&from=2025-06-15&to=2025-06-15"
            for path in [
                "renewals?\(query)&by=month,product", "renewals?\(query)&by=product",
                "renewals?from=\(encoded)", "renewals?by=\(encoded)", "renewals?\(encoded)=1",
                "revenue?\(query)&currency=\(encoded)", "renewals?environment=\(encoded)",
                "renewals?knownAt=\(encoded)", encoded,
            ] {
                let answer = try await console.get("/console/reports/\(path)", cookie: cookie)
                #expect((answer.status == 200) == path.contains("product"), "\(path)")
                #expect(answer.text.contains("&lt;script&gt;"), "\(path)")
                for word in ["<script>", "<img", " style=", "http://"] {
                    #expect(!answer.text.contains(word), "\(path) contains \(word)")
                }
                _ = try Self.document(answer)
                let policy = try #require(answer.headers[.contentSecurityPolicy])
                #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; img-src data:;"))
            }
        }
    }

    @Test func `an address with knowledge gives the same page after more events`() async throws {
        try await TestConsole.run { console in
            try await console.build(2)
            let cookie = try await console.session(.analyst)
            let environment = try await console.environment()
            let path = "/console/reports/renewals?by=month,product&environment=\(environment)"
            let page = try await console.get(path, cookie: cookie)
            let links = try Self.links(Self.document(page), in: "cite quiet")
            let address = try #require(links.first)
            #expect(address.contains("from=") && address.contains("to="))
            #expect(address.contains("&knownAt="))
            let first = try await console.get(address, cookie: cookie)
            try await console.build(12)
            let second = try await console.get(address, cookie: cookie)
            #expect(first.status == 200 && first.text == second.text)
            #expect(try Self.links(Self.document(second), in: "cite quiet") == [address])
            let cells = { (answer: TestService.Answer) in try Self.cells(of: Self.document(answer))
            }
            #expect(try cells(page) == cells(first))
            // The address without knowledge has learned.
            let later = try await console.get(path, cookie: cookie)
            #expect(try cells(later) != cells(page))
            // The route for programs knows as much.
            let query = String(address.dropFirst("/console/reports/".count))
            let json = try await console.json("/v1/reports/\(query)")
            #expect((json["rows"] as? [Any])?.count == (try cells(first)).count)
        }
    }

    @Test func `the files of a page have its parameters and its numbers`() async throws {
        try await TestConsole.run { console in
            try await console.build(6)
            let cookie = try await console.session(.analyst)
            let query = "by=product&environment=\(try await console.environment())"
            let page = try await console.get(
                "/console/reports/revenue?\(query)&from=&currency=",
                cookie: cookie
            )
            let files = try Self.links(Self.document(page), in: "Files")
            let wanted = ["csv", "json"].map { "/console/reports/revenue/\($0)?\(query)" }
            #expect(files == wanted)
            let (csv, json) = (
                try await console.get(wanted[0], cookie: cookie),
                try await console.get(wanted[1], cookie: cookie)
            )
            #expect(csv.headers[.contentType] == "text/csv; charset=utf-8; header=present")
            #expect(json.headers[.contentType] == "application/json")
            for (file, name) in [(csv, "csv"), (json, "json")] {
                #expect(file.status == 200)
                let disposition = file.headers[.contentDisposition]
                #expect(disposition == "attachment; filename=\"revenue.\(name)\"")
            }
            let rows = try #require(try json.json["rows"] as? [[String: Any]])
            #expect(!rows.isEmpty)
            let lines = csv.text.split(separator: "\r\n").map { line in
                line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
            let columns = ["product_identifier", "currency", "gross_milliunits"]
            #expect(lines.first.map { Array($0.prefix(3)) } == columns)
            let numbers = rows.map { row in
                ["productId", "currency", "grossMilliunits"].map { name in
                    row[name].map { $0 is NSNull ? "" : "\($0)" } ?? "absent"
                }
            }
            #expect(lines.dropFirst().map { Array($0.prefix(3)) } == numbers)
            #expect(try Self.cells(of: Self.document(page)).count == rows.count)
        }
    }

    @Test func `a bad parameter is refused in the words of the route`() async throws {
        try await TestConsole.run { console in
            try await console.build(2)
            let cookie = try await console.session(.analyst)
            for query in [
                "renewals?from=x", "renewals?to=yester", "renewals?by=colour", "renewals?day=1",
                "renewals?knownAt=x", "renewals?currency=EUR", "revenue?currency=euro", "profit",
                "active?by=month", "renewals?from=2025-03-02&to=2025-03-01",
                "renewals?environment=Nowhere", "renewals?knownAt=99999999",
            ] {
                let page = try await console.get("/console/reports/\(query)", cookie: cookie)
                let token = try await console.bearer
                let answer = try await console.send(.get, "/v1/reports/\(query)", headers: token)
                #expect([400, 404].contains(answer.status), "\(query)")
                #expect(page.status == answer.status, "\(query)")
                let detail = try #require(try answer.json["detail"] as? String)
                #expect(page.text.contains(HTML("\(detail)").text), "\(query): \(detail)")
            }
        }
    }
}

extension TestConsole {
    /// The environment of most subscriptions.
    fileprivate func environment() async throws -> String {
        let words = try await ledger.log.streams(limit: 100).map(\.environment.word)
        let counts = Dictionary(grouping: words) { $0 }.mapValues(\.count)
        return try #require(counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key)
    }

    /// The header of a new token that may read reports.
    fileprivate var bearer: [String: String] {
        get async throws {
            let token = try await token(.analyst, named: "t\(UUID().uuidString.lowercased())")
            return ["Authorization": "Bearer \(token.text)"]
        }
    }

    /// The answer of a route for programs.
    fileprivate func json(_ path: String) async throws -> [String: Any] {
        let answer = try await send(.get, path, headers: try await bearer)
        #expect(answer.status == 200, "\(path): \(answer.text.prefix(600))")
        return try answer.json
    }
}
