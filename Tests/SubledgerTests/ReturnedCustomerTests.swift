import AppStore
import EventLog
import Events
import Subledger
import TestSupport
import Testing

/// An erasure covers the subscriptions that the log had; what comes later is listed.
@Suite(.enabled { await TestServer.isAvailable })
struct ReturnedCustomerTests {
    @Test func `a subscription that brings an erased customer back is listed`() async throws {
        try await FollowTests.withLedger(lanes: 4) { ledger, _ in
            func add(_ id: String, token: String, account: String) async throws {
                let fact = UnprovenFactTests.years(id: id, token: token, account: account)
                _ = try await ledger.log.append(
                    Verified(
                        [fact],
                        evidence: Evidence(
                            payload: Array("payload of \(id)".utf8),
                            kind: .decodedTransaction,
                            source: "test",
                            verification: Verification(trust: .vouched, root: nil),
                            receivedAt: .systemClock()
                        )
                    )
                )
            }
            try await add("1", token: "anna", account: "a")
            try await add("2", token: "bob", account: "b")
            let targets = try await ledger.erasureTargets(ofCustomer: "anna")
            _ = try await ledger.erase(targets, reason: ErasureTests.reason, withSiblings: false)
            #expect(try await ledger.returnedCustomers().isEmpty)
            try await add("3", token: "anna", account: "a")
            try await add("4", token: "bob", account: "b")
            let returned = try await ledger.returnedCustomers()
            #expect(returned.map(\.originalTransactionId) == ["3"])
            #expect(returned.map(\.erased) == ["1"])
        }
    }
}
