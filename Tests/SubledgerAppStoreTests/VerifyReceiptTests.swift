import AppStoreSimulator
import Foundation
import SimulatedStoreService
import Testing

/// The endpoint of Apple's that the simulated store still answers, for programs that ask it.
@Suite struct VerifyReceiptTests {
    @Test func `verifyReceipt answers for its own environment and its shared secret`()
        async throws
    {
        try await TestStore.run {
            ($0.subscriptions, $0.sandboxSubscriptions, $0.sharedSecret) = (1, 1, "5ec4e7")
        } _: { store in
            func status(_ path: String, _ receipt: String, _ secret: String) async throws -> Int? {
                let body = #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
                let (_, data) = try await store.post(path, body)
                let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                return answer?["status"] as? Int
            }
            let life = try #require(store.server.sandboxLives.first)
            let path = "/control/receipts/\(life.originalTransactionId)"
            let receipt = String(decoding: try await store.get(path), as: UTF8.self)
            #expect(try await status("/sandbox/verifyReceipt", receipt, "5ec4e7") == 0)
            #expect(try await status("/verifyReceipt", receipt, "5ec4e7") == 21_007)
            #expect(try await status("/sandbox/verifyReceipt", receipt, "wrong") == 21_004)
            #expect(try await status("/verifyReceipt", "AAAA", "5ec4e7") == 21_003)
        }
    }
}
