import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import Subledger
import TestSupport
import Testing

/// What the app's clients upload, and who owns it.
@Suite(.enabled { await TestServer.isAvailable })
struct UploadRouteTests {
    // The JWS of a page of the transaction history.
    static func signedTransactions(of life: Int = 1) throws -> [String] {
        let page = try #require(
            TestService.simulator.life(life).history(asOf: .systemClock()).first
        )
        let json = try JSONSerialization.jsonObject(with: Data(page.payload)) as? [String: Any]
        return try #require(json?["signedTransactions"] as? [String])
    }

    @Test func `an upload links the subscription, and a second uploader is shown the owner`()
        async throws
    {
        let transactions = try Self.signedTransactions()
        try await TestService.run { service in
            let token = try await service.token(.ingest, .support)
            func upload(_ customer: String) async throws -> [[String: Any]] {
                let answer = try await service.post(
                    "/v1/transactions",
                    json: ["signedTransactions": transactions, "customerId": customer],
                    token: token
                )
                #expect(answer.status == 200)
                return try #require(answer.json["subscriptions"] as? [[String: Any]])
            }
            let first = try await upload("anna")
            #expect(first.allSatisfy { $0["customerId"] as? String == "anna" })
            #expect(first.allSatisfy { $0["isOfAnother"] as? Bool == false })
            let events = try await service.ledger.log.heads().values.map(\.offset)
            let again = try await upload("anna")
            #expect(again.count == first.count)
            #expect(try await service.ledger.log.heads().values.map(\.offset) == events)
            let second = try await upload("ben")
            #expect(second.allSatisfy { $0["customerId"] as? String == "anna" })
            #expect(second.allSatisfy { $0["isOfAnother"] as? Bool == true })
            let asked = try await service.get("/v1/customers/anna/access", token: token)
            #expect(asked.status == 200)
            #expect(try await service.get("/v1/customers/ben/access", token: token).status == 404)
        }
    }

    @Test func `a customer id is another if its bytes differ, though it looks the same`()
        async throws
    {
        let transactions = try Self.signedTransactions()
        try await TestService.run { service in
            let token = try await service.token(.ingest)
            for (customer, isOfAnother) in [("caf\u{e9}", false), ("cafe\u{301}", true)] {
                let answer = try await service.post(
                    "/v1/transactions",
                    json: ["signedTransactions": transactions, "customerId": customer],
                    token: token
                )
                let owned = try #require(answer.json["subscriptions"] as? [[String: Any]])
                #expect(!owned.isEmpty)
                #expect(owned.allSatisfy { $0["isOfAnother"] as? Bool == isOfAnother })
            }
        }
    }

    @Test func `a customer id that is the id of another subscription is refused as a link`()
        async throws
    {
        // The second life has a token.
        let life = try #require(
            (2..<50).first {
                TestService.simulator.life($0).identity.appAccountToken != nil
            }
        )
        let (first, second) = (try Self.signedTransactions(), try Self.signedTransactions(of: life))
        try await TestService.run { service in
            let token = try await service.token(.ingest)
            func upload(_ signed: [String], for customer: String?) async throws -> [String: Any] {
                var body: [String: Any] = ["signedTransactions": signed]
                body["customerId"] = customer
                let answer = try await service.post("/v1/transactions", json: body, token: token)
                #expect(answer.status == 200)
                let owned = try answer.json["subscriptions"] as? [[String: Any]]
                return try #require(owned?.first)
            }
            let other = try await upload(first, for: nil)
            #expect(other["refusal"] == nil)
            let id = try #require(other["originalTransactionId"] as? String)
            let refused = try await upload(second, for: id)
            #expect(refused["refusal"] as? String == "name-is-id")
            #expect(refused["customerId"] == nil && refused["isOfAnother"] as? Bool == false)
            // The customer's own UUID as the id; the app also passed it to Apple as the token.
            let name = TestService.simulator.life(life).identity.appAccountToken?.uppercased()
            let owned = try await upload(second, for: name)
            #expect(owned["customerId"] as? String == name && owned["refusal"] == nil)
        }
    }

    @Test(arguments: ["a\u{0}b", "", String(repeating: "a", count: 10_000)])
    func `an invalid customer id is refused and links nothing`(
        id: String
    )
        async throws
    {
        let transactions = try Self.signedTransactions()
        try await TestService.run { service in
            let token = try await service.token(.ingest)
            let answer = try await service.post(
                "/v1/transactions",
                json: ["signedTransactions": transactions, "customerId": id],
                token: token
            )
            #expect(answer.status == 400)
            #expect(try await service.ledger.log.heads().isEmpty)
        }
    }

    @Test func `one forged transaction among valid ones is named, and the others are recorded`()
        async throws
    {
        let transactions = try Self.signedTransactions()
        try await TestService.run { service in
            let token = try await service.token(.ingest)
            let answer = try await service.post(
                "/v1/transactions",
                json: ["signedTransactions": ["a.b.c"] + transactions],
                token: token
            )
            #expect(answer.status == 200)
            let refused = try #require(answer.json["rejections"] as? [[String: Any]])
            #expect(refused.map { $0["index"] as? Int } == [0])
            let taken = try #require(answer.json["taken"] as? [String: Any])
            #expect(taken["appended"] as? Int ?? 0 > 0)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"signedTransactions":[]}"#, #"{"signedTransactions":"x"}"#,
        #"{"signedTransactions":["x"],"customerID":"anna"}"#,
    ])
    func `a body of another form is refused with what was expected`(body: String) async throws {
        try await TestService.run { service in
            let token = try await service.token(.ingest)
            let answer = try await service.post(
                "/v1/transactions",
                Array(body.utf8),
                token: token
            )
            #expect(answer.status == 400)
            let code = try answer.json["code"] as? String
            #expect(code == (body.isEmpty ? "body-empty" : "body"))
        }
    }

    @Test func `a question about one subscription lists the ids if its customer has several`()
        async throws
    {
        let life = 2
        let uploads = [try Self.signedTransactions(), try Self.signedTransactions(of: life)]
        try await TestService.run { service in
            let token = try await service.token(.ingest, .support)
            var ids: Set<String> = []
            for signed in uploads {
                let answer = try await service.post(
                    "/v1/transactions",
                    json: ["signedTransactions": signed, "customerId": "anna"],
                    token: token
                )
                let owned = try answer.json["subscriptions"] as? [[String: Any]] ?? []
                ids.formUnion(owned.compactMap { $0["originalTransactionId"] as? String })
            }
            try #require(ids.count > 1)
            let answer = try await service.get("/v1/customers/anna/periods", token: token)
            #expect(answer.status == 409)
            #expect(try answer.json["code"] as? String == "several-subscriptions")
            // Without what was bought once.
            let listed = try Set(#require(answer.json["subscriptions"] as? [String]))
            #expect(listed.count > 1 && listed.isSubset(of: ids))
        }
    }

    @Test func `a parameter that the route does not have is refused`() async throws {
        try await TestService.run { service in
            let token = try await service.token(.admin)
            for path in [
                "/v1/events/1", "/v1/events/1/proof", "/v1/events/1/payload", "/v1/checkpoint",
            ] {
                let answer = try await service.get("\(path)?raw=1", token: token)
                #expect(answer.status == 400, "\(path)")
                #expect(try answer.json["code"] as? String == "query", "\(path)")
            }
        }
    }
}
