import Foundation
import TestSupport
import Testing

/// `explain` at instants at which the ledger cannot have been asked.
@Suite(.enabled { await TestServer.isAvailable })
struct ExplainInstantTests {
    @Test func `a future instant was not served, and its answer may change`() async throws {
        let row = ImportedSubscriptionTests.row("1000", "2015-06-09", "2099-07-09")
        try await ImportedSubscriptionTests.withLedger([row]) { command, _ in
            let text = try await command.expect(0, "explain", "1000", "--at", "2098-01-01")
            #expect(
                text.contains("That time is in the future: this is what is known now"),
                "\(text)"
            )
            #expect(text.contains("not asked of this ledger: that instant is in the future"))
            #expect(text.contains("there is no answer yet to compare with"), "\(text)")
            #expect(!text.contains("at the time") && !text.contains("was right"), "\(text)")
        }
    }

    @Test func `with the knowledge of a time before the ledger no answer is called right`()
        async throws
    {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            let now = "\(Int64(Date().timeIntervalSince1970 * 1000))"
            let text = try await command.expect(
                0,
                "explain",
                "1000",
                "--at",
                now,
                "--known-at",
                "2020-01-01"
            )
            #expect(!text.contains("was right"), "\(text)")
            #expect(text.contains("nothing was known"), "\(text)")
        }
    }

    @Test func `before the first purchase the reason is that none had begun`() async throws {
        try await ImportedSubscriptionTests.withLedger(ImportedSubscriptionTests.one) {
            command,
            _ in
            let text = try await command.expect(0, "explain", "1000", "--at", "2014-01-01")
            #expect(text.contains("   no purchase had begun then\n"), "\(text)")
        }
    }

    @Test func `a second source of access is listed next to the deciding one`() async throws {
        let rows = [
            ImportedSubscriptionTests.row("1000", "2015-06-09", "2015-07-09"),
            ImportedSubscriptionTests.row("2000", "2015-06-10", "2015-08-10"),
        ]
        try await ImportedSubscriptionTests.withLedger(rows) { command, _ in
            for id in ["1000", "2000"] {
                try await command.expect(0, "customers", "link", "anna", id)
            }
            let text = try await command.expect(0, "explain", "anna", "--at", "2015-06-20")
            #expect(text.contains("also by plan 2015-06-09 00:00:00"), "\(text)")
        }
    }
}
