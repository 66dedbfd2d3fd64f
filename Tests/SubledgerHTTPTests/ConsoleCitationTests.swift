import EventLog
import Events
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The address that cites a page: it gives the same page when more is known.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsoleCitationTests {
    private static let april = "2026-04-01T00:00:00Z"

    @Test
    func `a page is cited by its position, or by a time where the newest commit only confirms`()
        async throws
    {
        try await TestConsole.run { console in
            let cookie = try await console.session(.support)
            try await console.append(productId: "monthly", signed: Self.april)
            let first = try await console.citation(cookie)
            #expect(first.known == "1")
            let confirmed = "2026-04-02T00:00:00Z"
            try await console.append(productId: "monthly", signed: confirmed)
            let second = try await console.citation(cookie)
            #expect(second.known == "\(try #require(Instant(confirmed)).milliseconds)")

            // The lists of times lead to what was recorded later, too.
            let shown = [
                try await console.content(first.address, cookie),
                try await console.content(second.address, cookie),
            ]
            #expect(shown[0] != shown[1])
            try await console.append(productId: "yearly", signed: "2026-04-03T00:00:00Z")
            #expect(try await console.content(first.address, cookie) == shown[0])
            #expect(try await console.content(second.address, cookie) == shown[1])
            #expect(try await console.citation(cookie).known == "2")
        }
    }

    @Test func `knowledge that ends before the instant is not called what was answered then`()
        async throws
    {
        try await TestConsole.run { console in
            let cookie = try await console.session(.support)
            try await console.append(productId: "monthly", signed: Self.april)
            try await console.append(productId: "yearly", signed: "2026-04-03T00:00:00Z")
            let page = "/console/customer?id=2000000000000001&at=2026-04-10&known-at="
            let early = try await console.content(page + "2026-04-02", cookie)
            #expect(early.contains("not compared: what is used ends before the instant"))
            #expect(!early.contains("knew this at the time"))
            let whole = try await console.content(page + "2026-04-10", cookie)
            #expect(whole.contains("the answer given then was right"))
            #expect(whole.contains("knew this at the time"))
        }
    }
}

extension TestConsole {
    /// Records a statement about one period when it was signed.
    fileprivate func append(productId: String, signed: String) async throws {
        let asOf = try #require(Instant(signed))
        clock.advance(milliseconds: asOf.milliseconds - clock.now.milliseconds)
        var content = Content(format: .signedTransaction)
        content[.transactionId] = .text("2000000000000001")
        content[.productId] = .text(productId)
        content[.type] = .text("Auto-Renewable Subscription")
        let fact = Fact(
            stream: StreamID(
                environment: .production,
                originalTransactionId: "2000000000000001"
            ),
            bundleId: "example.subledger",
            kind: .transaction,
            purchaseDate: Instant("2026-03-31T00:00:00Z"),
            expiresDate: Instant("2026-04-30T00:00:00Z"),
            asOf: asOf,
            content: content
        )
        let evidence = Evidence(
            payload: Array("\(productId) \(signed)".utf8),
            kind: .signedTransaction,
            source: "test",
            verification: .signed(root: .zero),
            receivedAt: asOf
        )
        _ = try await ledger.log.append([Verified([fact], evidence: evidence)])
    }

    /// The address that the page of an instant names to be cited, and its bound of knowledge.
    fileprivate func citation(_ cookie: String) async throws -> (address: String, known: String) {
        let page = try await get(
            "/console/customer?id=2000000000000001&at=2026-04-01T12:00:00Z",
            cookie: cookie
        )
        let found = try #require(
            page.text.firstMatch(of: /To cite this page.*?href="([^"]*known-at=(\d+)[^"]*)"/)
        )
        return (String(found.1).replacing("&amp;", with: "&"), String(found.2))
    }

    /// What a page says, without its lists of times.
    fileprivate func content(_ address: String, _ cookie: String) async throws -> String {
        let page = try await get(address, cookie: cookie)
        #expect(page.status == 200)
        return String(try #require(page.text.split(separator: "<div id=\"content\">").last))
    }
}
