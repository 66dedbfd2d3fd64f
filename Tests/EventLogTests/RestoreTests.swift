import EventLog
import Events
import TestSupport
import Testing

/// How append reports the transaction ids that restores create (Apple's data: trap 4).
@Suite(.enabled { await TestServer.isAvailable })
struct RestoreTests {
    @Test(arguments: Variant.all)
    func `a new id of a known purchase is a restore, as an alias or in its own event`(
        variant: Variant
    ) async throws {
        // Apple's data: trap 4
        try await variant.withLog { log, _ in
            let cases: [(Fact, isNew: Bool, isRestore: Bool)] = [
                // The first id belongs to the purchase itself; another purchase has its own.
                (TestFacts.transaction(asOf: 1, transactionId: "1"), true, false),
                (TestFacts.transaction(purchased: 30, asOf: 1, transactionId: "2"), true, false),
                (TestFacts.transaction(asOf: 2, transactionId: "1"), false, false),
                // An alias, then the same alias again.
                (TestFacts.transaction(asOf: 1, transactionId: "3"), false, true),
                (TestFacts.transaction(asOf: 1, transactionId: "3"), false, false),
                // A refund under a new id: news, and a restore; then one under a known id.
                (TestFacts.transaction(asOf: 4, transactionId: "4", revoked: 3), true, true),
                (TestFacts.transaction(asOf: 5, transactionId: "3"), true, false),
                // Neither a notification nor another environment is a restore.
                (TestFacts.notification(uuid: "n", asOf: 6), true, false),
                (
                    TestFacts.transaction(asOf: 1, transactionId: "5", environment: .sandbox),
                    true, false
                ),
            ]
            for (number, (fact, isNew, isRestore)) in cases.enumerated() {
                let outcome = try #require(try await log.append(verified(fact)).first)
                #expect(outcome.isNew == isNew, "case \(number)")
                #expect(outcome.isRestore == isRestore, "case \(number)")
            }
            // Purchase "1" is known as 3 and 4 too; the two others have one id each.
            let aliases = try await log.ingestQuality().aliases
            #expect(aliases.map(\.evidenceKind) == ["signed-transaction"])
            #expect(aliases.map(\.purchases) == [3])
            #expect(aliases.map(\.aliases) == [2])
        }
    }

    @Test func `restores in one payload count as in several`() async throws {
        try await Variant.plain.withLog { log, _ in
            let outcomes = try await log.append(
                verified([
                    TestFacts.transaction(asOf: 1, transactionId: "1"),
                    TestFacts.transaction(asOf: 1, transactionId: "2"),
                    TestFacts.transaction(asOf: 1, transactionId: "2"),
                ])
            )
            #expect(outcomes.map(\.isNew) == [true, false, false])
            #expect(outcomes.map(\.isRestore) == [false, true, false])
        }
    }
}
