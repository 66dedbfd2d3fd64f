import AppStoreSimulator
import Crypto
import Events
import Foundation
import SimulatedStoreService
@testable import SubledgerAppStore
import Testing

@Suite struct ServerClientTests {
    @Test func `a token is short, signed, and of no use to another app`() throws {
        let key = P256.Signing.PrivateKey()
        let credentials = try ServerCredentials(
            pem: key.pemRepresentation,
            keyId: "2X9R4HXF34",
            issuerId: "57246542-96fe-1a63-e053-0824d011072a",
            bundleId: "com.example"
        )
        let token = try credentials.token(at: Instant(milliseconds: 1_700_000_000_999))
        let parts = token.split(separator: ".")
        let decoded = try parts.map { part in
            Data(try #require(Base64.decodeURLUnpadded(Array(part.utf8)[...])))
        }
        #expect(
            String(decoding: decoded[0], as: UTF8.self)
                == #"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#
        )
        #expect(
            String(decoding: decoded[1], as: UTF8.self)
                == #"{"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1700000000,"#
                + #""exp":1700000300,"aud":"appstoreconnect-v1","bid":"com.example"}"#
        )
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decoded[2])
        #expect(
            key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        )
    }

    @Test func `a key is in no description, reflection or error`() throws {
        let pem = P256.Signing.PrivateKey().pemRepresentation
        let secret = pem.split(separator: "\n")[1]
        let credentials = try ServerCredentials(
            pem: pem,
            keyId: "KEY",
            issuerId: "ISSUER",
            bundleId: "example"
        )
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains(secret) && text.contains("key KEY of example"))
        }
        for (broken, id) in [(String(pem.dropFirst(40)), "KEY"), (pem, "a\"b")] {
            do throws(ServerError) {
                _ = try ServerCredentials(pem: broken, keyId: id, issuerId: "I", bundleId: "b")
                Issue.record("a broken key was taken")
            } catch {
                #expect(error.code == .credentials)
                #expect(!error.message.contains(secret))
            }
        }
    }

    @Test func `a token is sent to no address that is neither encrypted nor of this machine`() {
        for url in [
            "http://api.example.com", "ftp://127.0.0.1", "127.0.0.1:80", "https://", "",
            "https://host/?a=b", "https://user@host",
        ] {
            do throws(ServerError) {
                _ = try ServerHosts(url: url)
                Issue.record("\(url) was taken")
            } catch {
                #expect(error.code == .address)
            }
        }
        for url in ["http://127.0.0.1:80", "https://store.example/", "http://localhost:1"] {
            #expect(throws: Never.self) { try ServerHosts(url: url) }
        }
    }

    @Test func `a history comes page by page, and later only what changed`() async throws {
        try await TestStore.run {
            $0.subscriptions = 60
        } _: { store in
            let life = try #require(
                store.server.lives.first { $0.listed(asOf: store.now).count > 20 }
            )
            try await store.withClient { client in
                let question = ServerRequest.transactionHistory(life.originalTransactionId)
                var counts: [Int] = []
                let revision = try await client.forEachPage(of: question, in: .production) {
                    counts.append($0.statementCount)
                }
                #expect(counts.reduce(0, +) == life.listed(asOf: store.now).count)
                #expect(counts.dropLast().allSatisfy { $0 == 20 } && counts.count > 1)
                var later = 0
                let last = try await client.forEachPage(
                    of: question,
                    from: revision,
                    in: .production
                ) { later += $0.statementCount }
                #expect(later == 0 && last == revision)
            }
        }
    }

    @Test func `a transaction of the sandbox is found there after production`() async throws {
        try await TestStore.run {
            ($0.subscriptions, $0.sandboxSubscriptions) = (1, 3)
        } _: { store in
            let id = try #require(store.server.sandboxLives.last).originalTransactionId
            try await store.withClient { client in
                let answer = try await client.answer(to: .subscriptionStatuses(id))
                #expect(answer.environment == .sandbox && answer.statementCount == 1)
                let error = try await serverError {
                    _ = try await client.answer(to: .subscriptionStatuses("1"))
                }
                #expect(error.code == .refused && error.errorCode == .transactionIdNotFound)
            }
        }
    }

    @Test func `every question has an answer of the documented form`() async throws {
        try await TestStore.run {
            $0.subscriptions = 40
        } _: { store in
            let life = try #require(
                store.server.lives.first { life in
                    life.listed(asOf: store.now).contains { $0.revocationDate != nil }
                }
            )
            let id = life.originalTransactionId
            let span = ServerRequest.NotificationFilter(
                start: Instant(milliseconds: store.now.milliseconds - 180 * 86_400_000),
                end: store.now
            )
            try await store.withClient { client in
                let questions: [ServerRequest] = [
                    .transactionHistory(id), .subscriptionStatuses(id), .refundHistory(id),
                    .transaction(id), .appTransaction(id), .order("M" + id),
                ]
                for question in questions {
                    let answer = try await client.answer(to: question, in: .production)
                    #expect(answer.statementCount > 0, "\(question)")
                }
                _ = try await client.answer(to: .notificationHistory(span), in: .production)
                let none = try await serverError {
                    _ = try await client.answer(to: .testNotification, in: .production)
                }
                #expect(none.errorCode?.rawValue == 4_040_007)
                let gone = try await serverError {
                    _ = try await client.answer(
                        to: .extensionStatus(productId: "a/b", requestIdentifier: "c"),
                        in: .production
                    )
                }
                #expect(gone.errorCode?.rawValue == 4_040_009)
            }
        }
    }

    @Test func `a foreign key or issuer is refused, once`() async throws {
        try await TestStore.run {
            $0.subscriptions = 1
        } _: { store in
            let other = P256.Signing.PrivateKey().pemRepresentation
            for credentials in [
                try store.credentials(pem: other), try store.credentials(issuerId: "other"),
            ] {
                try await AppStoreServerClient.with(credentials, url: store.url) { client in
                    let error = try await serverError {
                        _ = try await client.answer(to: .transaction("1"), in: .production)
                    }
                    #expect(error.code == .credentials && !error.isRetryable)
                }
            }
        }
    }
}
