@testable import AppStoreServerAPI
import AppStoreSimulator
import Events
import Foundation
import Hummingbird
import SimulatedStoreService
import Testing

@Suite struct VerifyReceiptTests {
    @Test func `a receipt of either environment is answered, production first`() async throws {
        try await TestStore.run {
            ($0.subscriptions, $0.sandboxSubscriptions, $0.sharedSecret) = (2, 2, "5ec4e7")
        } _: { store in
            let lives = store.server.lives.prefix(1) + store.server.sandboxLives.prefix(1)
            try await store.withClient { client in
                for life in lives {
                    let receipt = String(
                        decoding: try await store.get(
                            "/control/receipts/\(life.originalTransactionId)"
                        ),
                        as: UTF8.self
                    )
                    let answer = try await client.verifyReceipt(receipt, sharedSecret: "5ec4e7")
                    #expect(answer.environment == life.store.environment)
                    #expect(
                        String(decoding: answer.payload, as: UTF8.self)
                            .contains(life.originalTransactionId)
                    )
                    let error = try await serverError {
                        _ = try await client.verifyReceipt(receipt, sharedSecret: "wrong")
                    }
                    #expect(error.code == .credentials && error.message.contains("21004"))
                    #expect(!error.message.contains("wrong"))
                }
                let forged = try await serverError {
                    _ = try await client.verifyReceipt("AAAA", sharedSecret: "5ec4e7")
                }
                #expect(forged.code == .refused && forged.message.contains("21003"))
            }
        }
    }

    @Test(arguments: [
        (#"{"status":21002}"#, 5), (#"{"status":21005}"#, 5), (#"{"status":21009}"#, 5),
        (#"{"status":21100,"is-retryable":true}"#, 5),
        (#"{"status":21100,"is_retryable":"1"}"#, 5), (#"{"status":21199,"is-retryable":1}"#, 5),
        (#"{"status":21100,"is-retryable":false}"#, 1),
        (#"{"status":21199,"is_retryable":"0"}"#, 1),
        (#"{"status":21150,"is-retryable":"false"}"#, 1),
        (#"{"status":21000}"#, 1), (#"{"status":21001}"#, 1), (#"{"status":21003}"#, 1),
        (#"{"status":21004}"#, 1), (#"{"status":21010}"#, 1), (#"{"status":29999}"#, 1),
        ("{}", 1), ("<html>", 1),
    ])
    func `each status is asked again as often as it may help`(
        _ body: String,
        _ attempts: Int
    ) async throws {
        try await OddServer.run { _, _ in
            OddServer.json(body)
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                let error = try await serverError { _ = try await client.verifyReceipt("AAAA") }
                #expect(requests() == attempts, "\(error)")
                #expect(error.isRetryable == (attempts > 1))
            }
        }
    }

    @Test(arguments: [0, 21006]) func `a status with data is an answer`(
        _ status: Int
    ) async throws {
        let body = #"{"status":\#(status),"receipt":{}}"#
        try await OddServer.run { _, _ in
            OddServer.json(body)
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                let answer = try await client.verifyReceipt("AAAA")
                #expect(answer.payload == Array(body.utf8) && requests() == 1)
            }
        }
    }

    @Test func `environments that send each to the other are not asked for ever`() async throws {
        try await OddServer.run { _, request in
            let isSandbox = request.uri.path.hasPrefix("/sandbox")
            return OddServer.json(#"{"status":\#(isSandbox ? 21_008 : 21_007)}"#)
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                let error = try await serverError { _ = try await client.verifyReceipt("AAAA") }
                #expect(error.code == .refused && requests() == 2)
            }
        }
    }
}
