import AppStore
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Subledger
import TestSupport
import Testing

/// Customers whose subscriptions are joined by what Apple signed, found in the log step by step.
@Suite(.enabled { await TestServer.isAvailable })
struct CustomerBondTests {
    private static let day: Int64 = 86_400_000
    private static let start: Int64 = 1_780_000_000_000

    @Test(arguments: [1, 4])
    func `a token is found in either letter case, in each case that Apple signed`(
        lanes: Int
    ) async throws {
        try await withLedger(lanes: lanes) { ledger in
            let lower = "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99"
            try await ledger.take(rows: [Row("1000", token: lower)])
            try await ledger.take(rows: [Row("2000", token: lower.uppercased())])
            for name in [lower, lower.uppercased(), "1000", "2000"] {
                #expect(try await ledger.ids(name) == ["1000", "2000"], "\(name)")
                #expect(try await ledger.environments(ofCustomer: name) == [.production])
            }
        }
    }

    @Test(arguments: [1, 4])
    func `one receipt is one customer, whichever payload came first`(lanes: Int) async throws {
        let receipt = ["1000", "2000", "3000"].map { Row($0) }
        let deliveries: [[Row]] = [[receipt[0]], receipt, [receipt[1]], [receipt[2]]]
        for order in [[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0], [0, 2, 3, 1]] {
            try await withLedger(lanes: lanes) { ledger in
                for index in order {
                    try await ledger.take(rows: deliveries[index], at: Int64(index))
                }
                for name in ["1000", "2000", "3000"] {
                    #expect(try await ledger.ids(name) == ["1000", "2000", "3000"], "\(order)")
                }
                _ = try await ledger.link("2000", "ben")
                _ = try await ledger.link("1000", "anna")
                #expect(try await ledger.ids("ben") == ["2000"])
                #expect(try await ledger.ids("anna") == ["1000"])
            }
        }
    }

    @Test(arguments: [1, 4])
    func `an Apple account is found by its appTransactionId`(lanes: Int) async throws {
        try await withLedger(lanes: lanes) { ledger in
            for id in ["1000", "2000"] {
                try await ledger.take(rows: [Row(id, appTransaction: "70")])
            }
            try await ledger.take(rows: [Row("3000", appTransaction: "71")])
            try await ledger.take(rows: [Row("4000", appTransaction: "70", type: "Consumable")])
            for name in ["70", "1000", "2000"] {
                #expect(try await ledger.ids(name) == ["1000", "2000"], "\(name)")
            }
            #expect(try await ledger.environments(ofCustomer: "71") == [.production])
        }
    }

    @Test(arguments: [1, 4])
    func `a migration is followed in both directions`(lanes: Int) async throws {
        try await withLedger(lanes: lanes) { ledger in
            try await ledger.take(rows: [Row("1000")])
            try await ledger.take(rows: [Row("2000", previous: "1000")])
            // Twenty-four bytes: their length is the byte that the index searches for.
            try await ledger.take(rows: [Row("3000", previous: "123456789012345678901234")])
            _ = try await ledger.link("1000", "anna")
            for name in ["1000", "2000", "anna"] {
                #expect(try await ledger.ids(name) == ["1000", "2000"], "\(name)")
            }
            #expect(try await ledger.ids("123456789012345678901234") == ["3000"])
            let found = try await ledger.log.streams(with: [
                .previousOriginalTransactionId("1000"), .previousOriginalTransactionId("7"),
            ])
            #expect(found.map(\.originalTransactionId) == ["2000"])
        }
    }

    @Test(arguments: [1, 4])
    func `no bond restores an erased customer`(lanes: Int) async throws {
        try await withLedger(lanes: lanes) { ledger in
            try await ledger.take(rows: [Row("1000", appTransaction: "70"), Row("2000")])
            try await ledger.take(rows: [Row("4000", token: "t4", appTransaction: "70")])
            _ = try await ledger.link("1000", "anna")
            #expect(try await ledger.ids("anna") == ["1000", "2000", "4000"])
            let targets = try await ledger.erasureTargets(ofCustomer: "anna")
            // The fourth has the token of another account in the app: it is not erased with her.
            #expect(targets.map(\.stream.originalTransactionId) == ["2000", "1000"])
            #expect(targets.allSatisfy { $0.scope == .customer })
            let reason = ErasureReason("ticket 1", by: "test")
            _ = try await ledger.erase(targets, reason: reason, withSiblings: false)
            #expect(try await ledger.erasureTargets(ofCustomer: "anna").isEmpty)
            for id in ["1000", "2000", "4000"] { #expect(try await ledger.ids(id) == [id]) }
            #expect(try await ledger.ids("t4") == ["4000"])
            // Later payloads do not restore her either.
            try await ledger.take(
                rows: [
                    Row("1000", appTransaction: "70", currency: "EUR"),
                    Row("2000", currency: "EUR"),
                    Row("4000", token: "t4", appTransaction: "70", currency: "EUR"),
                ],
                at: 30
            )
            for id in ["1000", "2000", "4000"] { #expect(try await ledger.ids(id) == [id]) }
            #expect(try await ledger.log.verify().isOK)
        }
    }

    @Test(.enabled { RealData.isPresent })
    func `a real receipt with 27 originals is one customer's`() async throws {
        try await withLedger(lanes: 4) { ledger in
            let path = try RealData.path("FTChinese__subscription-api/receipt-27.b64")
            let receipt = try Data(contentsOf: URL(fileURLWithPath: path))
            let apples = AppStoreVerifier(policy: VerificationPolicy())
            let ledger = Ledger(log: ledger.log, verifier: apples)
            _ = try await ledger.ingest(Array(receipt), source: "test")
            var all: [StreamID] = []
            for stream in try await ledger.log.streams() { all.append(stream.stream) }
            #expect(all.count == 27)
            let asked = try #require(all.first)
            let customer = try await ledger.customer(
                asked.originalTransactionId,
                in: asked.environment
            )
            #expect(customer.streams.count == 27)
            let last = try #require(
                customer.streams.flatMap(\.timeline.purchases).max {
                    $0.expiresDate < $1.expiresDate
                }
            )
            let entitlement = Entitlement(
                customer.streams(ownedAt: last.purchaseDate).map(\.timeline),
                environment: asked.environment
            )
            #expect(!entitlement.active(at: last.purchaseDate).isEmpty)
        }
    }

    /// A payload's data about one subscription.
    struct Row {
        let id: String
        var texts: [(Field, String)] = []

        init(
            _ id: String,
            token: String? = nil,
            appTransaction: String? = nil,
            previous: String? = nil,
            currency: String? = nil,
            type: String? = nil
        ) {
            self.id = id
            let told: [(Field, String?)] = [
                (.appAccountToken, token), (.appTransactionId, appTransaction),
                (.previousOriginalTransactionId, previous), (.currency, currency),
                (.type, type),
            ]
            texts = told.compactMap { field, text in text.map { (field, $0) } }
        }

        func fact(asOf day: Int64) -> Fact {
            // Only a signed transaction reports a migration.
            let isMigrated = texts.contains { $0.0 == .previousOriginalTransactionId }
            var content = Content(format: isMigrated ? .signedTransaction : .responseTransaction)
            content[.productId] = .text("month")
            content[.transactionId] = .text(id + "1")
            for (field, text) in texts { content[field] = .text(text) }
            return Fact(
                stream: StreamID(environment: .production, originalTransactionId: id),
                bundleId: "example",
                kind: .transaction,
                purchaseDate: Instant(milliseconds: CustomerBondTests.start),
                expiresDate: texts.contains { $0.1 == "Consumable" }
                    ? nil
                    : Instant(
                        milliseconds: CustomerBondTests.start + 30 * CustomerBondTests.day
                    ),
                asOf: Instant(milliseconds: CustomerBondTests.start + day * CustomerBondTests.day),
                content: content
            )
        }
    }

    private func withLedger(
        lanes: Int,
        _ body: (Ledger) async throws -> Void
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, _ in try await body(ledger) }
    }
}

extension Ledger {
    /// Ingests a verifyReceipt response with these rows, as of this many days after the purchases.
    fileprivate func take(rows: [CustomerBondTests.Row], at day: Int64 = 0) async throws {
        let facts = rows.map { $0.fact(asOf: day) }
        let evidence = Evidence(
            payload: Array("\(rows) as of \(day)".utf8),
            kind: .verifyReceiptResponse,
            source: "test",
            verification: Verification(trust: .vouched, root: nil),
            receivedAt: .systemClock()
        )
        _ = try await log.append([Verified(facts, evidence: evidence)])
    }

    /// The ids of a customer's subscriptions.
    fileprivate func ids(_ name: String) async throws -> [String] {
        try await customer(name).streams.map(\.stream.originalTransactionId)
    }

    fileprivate func link(_ id: String, _ customer: String) async throws -> LinkOutcome {
        try await add(
            CustomerLink(
                stream: StreamID(environment: .production, originalTransactionId: id),
                customer: customer,
                statedBy: "test",
                reason: "",
                statedAt: Instant(milliseconds: 1_780_000_000_000)
            ),
            receivedAt: .systemClock()
        )
    }
}
