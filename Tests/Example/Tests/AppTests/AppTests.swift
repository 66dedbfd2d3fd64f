import Foundation
import Hummingbird
import HummingbirdTesting
import Subledger
import SubledgerTesting
import Testing

@testable import App

/// The server of the app, with an App Store and a ledger of each test's own.
struct AppTests {
    private let store = TestStore(now: Instant(Date(timeIntervalSinceNow: -3600)))
    private let pro = TestStore.Product("com.example.app.pro")
    private let customer = UUID()

    @Test func `Apple's notification gives access, a refund takes it away`() async throws {
        try await withServer { client, _ in
            #expect(try await access(client) == false)
            let bought = try store.buy(pro, appAccountToken: customer)
            try await post(bought.notifications, to: "/v1/appstore/notifications", client)
            #expect(try await access(client) == true)
            let refunded = try store.refund(bought.id)
            try await post(refunded.notifications, to: "/v1/appstore/notifications", client)
            #expect(try await access(client) == false)
        }
    }

    @Test func `a purchase that the app uploads gives access before Apple's notification`()
        async throws
    {
        try await withServer { client, _ in
            let bought = try store.buy(pro, appAccountToken: customer)
            try await post([bought.transaction], to: "/customers/\(customer)/purchases", client)
            #expect(try await access(client) == true)
            try await post(
                [Array("forged".utf8)],
                to: "/customers/\(customer)/purchases",
                client,
                expecting: .badRequest
            )
        }
    }

    @Test func `an entitlement of the catalog is active while its product is`() async throws {
        let catalog = #"{"entitlements": {"pro": {"products": ["com.example.app.pro"]}}}"#
        try await withServer { client, ledger in
            try await ledger.importCatalog(Array(catalog.utf8), source: "entitlements.json")
            #expect(try await entitlements(client) == [])
            try await ledger.ingest(try store.buy(pro, appAccountToken: customer))
            #expect(try await entitlements(client) == ["pro"])
        }
    }

    @Test func `the table of trials has a row when a trial begins`() async throws {
        try await withServer { _, ledger in
            try await ledger.ingest(try store.buy(pro, offer: .freeTrial(.weeks(1))))
            let tables = try await ledger.prepare()
            #expect(tables.first { $0.name == "trials" }?.rows == 1)
        }
    }

    @Test func `a refund sends one mail, however often the reader starts`() async throws {
        try await withServer { _, ledger in
            let (mails, sent) = AsyncStream.makeStream(of: String.self)
            let mail = RefundMail(ledger: ledger) { customer, _ in sent.yield(customer) }
            let bought = try store.buy(pro, appAccountToken: customer)
            try await ledger.ingest(bought)
            try await mail.run(isFollowing: false)
            try await ledger.ingest(try store.refund(bought.id))
            for _ in 1...3 { try await mail.run(isFollowing: false) }
            sent.finish()
            let customers = await mails.reduce(into: []) { $0.append($1) }
            #expect(customers.map { $0.lowercased() } == [customer.uuidString.lowercased()])
        }
    }

    private func withServer(
        _ body: @escaping @Sendable (any TestClientProtocol, Ledger) async throws -> Void
    ) async throws {
        try await TestLedger.with(store.policy, projections: App.projections) { ledger in
            try await App.server(ledger).test(.router) { try await body($0, ledger) }
        }
    }

    private func access(_ client: any TestClientProtocol) async throws -> Bool {
        try await get(Access.self, "access", client).access
    }

    private func entitlements(_ client: any TestClientProtocol) async throws -> [String] {
        try await get([String].self, "entitlements", client)
    }

    private func get<Answer: Decodable>(
        _ type: Answer.Type,
        _ name: String,
        _ client: any TestClientProtocol
    ) async throws -> Answer {
        let answer = try await client.execute(uri: "/customers/\(customer)/\(name)", method: .get)
        #expect(answer.status == .ok)
        return try JSONDecoder().decode(type, from: Data(answer.body.readableBytesView))
    }

    private func post(
        _ bodies: [[UInt8]],
        to path: String,
        _ client: any TestClientProtocol,
        expecting status: HTTPResponse.Status = .ok
    ) async throws {
        for body in bodies {
            let answer = try await client.execute(
                uri: path,
                method: .post,
                body: ByteBuffer(bytes: body)
            )
            #expect(answer.status == status, "\(String(buffer: answer.body))")
        }
    }
}
