import EventLog
import Events
import Projections
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The times at which the ledger's answer was wrong, on the page of a customer.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsoleWrongAnswersTests {
    @Test func `a page leads to every time at which the answer was wrong`() async throws {
        try await TestConsole.run(usesLogClock: true) { console in
            try await console.fill(25)
            let log = console.ledger.log
            let cookie = try await console.session(.support)
            let firstCommit = try await log.firstCommittedAt()
            var seen = 0
            for found in try await log.streams(limit: 100) {
                let stream = StreamID(
                    environment: found.environment,
                    originalTransactionId: found.originalTransactionId
                )
                let history = try await log.recordedHistory(of: stream)
                let expected = WrongAnswers([history], firstCommit: firstCommit).asked.stretches
                let page = try await console.get(
                    "/console/customer?id=\(stream.originalTransactionId)"
                        + "&environment=\(stream.environment.word)",
                    cookie: cookie
                ).text
                // The page is of a customer, who may have more subscriptions.
                guard page.split(separator: "<h2>Subscription").count == 2 else { continue }
                let title = "Every time at which the answer was wrong"
                #expect(page.contains(title) == !expected.isEmpty)
                for stretch in expected {
                    let words: HTML = "\(stretch.words())"
                    #expect(page.contains(words.text), "\(stream)")
                    #expect(page.contains("at=\(stretch.from.milliseconds)"), "\(stream)")
                }
                seen += expected.count
            }
            #expect(seen > 3, "the sample has few wrong answers")
        }
    }

    @Test func `the header leads only to what a session may see`() async throws {
        try await TestConsole.run { console in
            try await console.build(1)
            for (role, own, others) in [
                (TokenRole.support, ["Customers"], ["Reports", "Operations", "Tables"]),
                (.analyst, ["Reports"], ["Customers", "Operations", "Tables"]),
                (.operator, ["Operations", "Tables"], ["Customers", "Reports"]),
                (.admin, ["Customers", "Reports", "Operations", "Tables"], []),
            ] {
                let cookie = try await console.session(role, named: role.rawValue)
                let address = try #require(ConsoleSection.first(for: [role])).address
                let page = try await console.get(address, cookie: cookie)
                #expect(page.status == 200)
                for word in own { #expect(page.text.contains(">\(word)</a>"), "\(role) \(word)") }
                for word in others {
                    #expect(!page.text.contains(">\(word)</a>"), "\(role) \(word)")
                }
            }
        }
    }
}
