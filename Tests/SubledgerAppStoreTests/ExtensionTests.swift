import AppStoreSimulator
import Events
import Foundation
import SimulatedStoreService
@testable import SubledgerAppStore
import TestSupport
import Testing

/// Requests that change something at Apple: renewal dates, and consumption information.
@Suite struct ExtensionTests {
    private struct Bought: Decodable {
        let originalTransactionId: String
        let periods: [Period]

        struct Period: Decodable {
            let validTo: Int64
        }
    }

    private static let product = "example.subledger.lumen.plus.monthly"

    private static func buy(_ store: TestStore) async throws -> Bought {
        let (status, data) = try await store.post(
            "/control/subscriptions",
            #"{"productId":"\#(product)"}"#
        )
        #expect(status == 201, "\(String(decoding: data, as: UTF8.self))")
        return try JSONDecoder().decode(Bought.self, from: data)
    }

    private static func end(of id: String, _ store: TestStore) async throws -> Int64 {
        let data = try await store.get("/control/subscriptions/\(id)")
        let truth = try JSONDecoder().decode(Bought.self, from: data)
        return try #require(truth.periods.last).validTo
    }

    private static func wanted(_ id: String, days: Int = 30) throws -> RenewalExtension {
        try #require(
            RenewalExtension(days: days, reason: .serviceIssueOrOutage, requestIdentifier: id)
        )
    }

    @Test func `one subscription is extended, then all of a product`() async throws {
        try await TestStore.run(ticks: true) {
            ($0.subscriptions, $0.monthMilliseconds, $0.rateShare) = (20, 600_000, 1000)
        } _: { store in
            let bought = try await Self.buy(store)
            let other = try await Self.buy(store)
            let id = bought.originalTransactionId
            try await store.withClient { client in
                let before = try await Self.end(of: id, store)
                let one = try await client.extendRenewalDate(
                    of: id,
                    by: try Self.wanted("one"),
                    in: .production
                )
                #expect(one.success && one.originalTransactionId == id)
                // The store shows what has happened by its clock, which ticks.
                try await eventually("the subscription is extended") {
                    try await Self.end(of: id, store) != before
                }
                let after = try await Self.end(of: id, store)
                // A month of thirty days takes ten minutes.
                #expect(after == before + 600_000)
                #expect(one.effectiveDate?.milliseconds == after)

                let none = try await client.extensionStatus(
                    ofProduct: Self.product,
                    "all",
                    in: .production
                )
                #expect(none == nil)
                let otherBefore = try await Self.end(of: other.originalTransactionId, store)
                for _ in 0..<2 {
                    let identifier = try await client.extendRenewalDates(
                        ofProduct: Self.product,
                        by: try Self.wanted("all", days: 3),
                        in: .production
                    )
                    #expect(identifier == "all")
                }
                // The second request with the same identifier changed nothing.
                try await eventually("the other one is extended") {
                    try await Self.end(of: other.originalTransactionId, store) != otherBefore
                }
                let otherAfter = try await Self.end(of: other.originalTransactionId, store)
                #expect(otherAfter == otherBefore + 60_000)
                let status = try #require(
                    try await client.extensionStatus(
                        ofProduct: Self.product,
                        "all",
                        in: .production
                    )
                )
                #expect(status.complete && status.completeDate != nil)
                #expect(status.succeededCount == 2)
            }
        }
    }

    @Test(arguments: [
        (#"{"extendByDays":91,"extendReasonCode":1,"requestIdentifier":"a"}"#, 4_000_009),
        (#"{"extendByDays":1,"extendReasonCode":4,"requestIdentifier":"a"}"#, 4_000_010),
        (#"{"extendByDays":1,"extendReasonCode":1}"#, 4_000_011),
        (
            #"{"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a","productId":"no"}"#,
            4_000_023
        ),
        (
            #"{"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a","productId":"#
                + #""example.subledger.lumen.plus.monthly","storefrontCountryCodes":[]}"#,
            4_000_027
        ),
        (
            #"{"extendByDays":1,"extendReasonCode":1,"requestIdentifier":"a","productId":"#
                + #""example.subledger.lumen.plus.monthly","storefrontCountryCodes":["XXX"]}"#,
            4_000_028
        ),
        ("[]", 4_000_000),
    ])
    func `a store refuses an extension for all as Apple does`(
        body: String,
        code: Int64
    ) async throws {
        try await Self.expect(code, "POST", "/inApps/v1/subscriptions/extend/mass", body)
    }

    @Test(arguments: [
        (#"{}"#, 4_000_035),
        (#"{"customerConsented":false,"sampleContentProvided":true}"#, 4_000_035),
        (#"{"customerConsented":true}"#, 4_000_041),
        (#"{"customerConsented":true,"sampleContentProvided":true}"#, 4_000_036),
        (
            #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"LOST"}"#,
            4_000_036
        ),
        (
            #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"#
                + #""DELIVERED","consumptionPercentage":100001}"#, 4_000_000
        ),
        (
            #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"#
                + #""DELIVERED","refundPreference":"PLEASE"}"#, 4_000_000
        ),
    ])
    func `a store refuses consumption information as Apple does`(
        body: String,
        code: Int64
    ) async throws {
        try await Self.expect(code, "PUT", "/inApps/v2/transactions/consumption/ID", body)
    }

    // `ID` in the path is a transaction of the store.
    private static func expect(
        _ code: Int64,
        _ method: String,
        _ path: String,
        _ body: String
    ) async throws {
        try await TestStore.run(ticks: true) {
            ($0.subscriptions, $0.monthMilliseconds) = (0, 600_000)
        } _: { store in
            let id = try await Self.buy(store).originalTransactionId
            try await store.withClient { client in
                let error = try await serverError {
                    _ = try await client.send(
                        ServerCall(.consumption, path.replacing("ID", with: id), method, body),
                        in: .production
                    )
                }
                #expect(error.errorCode?.rawValue == code, "\(error)")
                #expect(error.code == .refused)
            }
        }
    }

    @Test func `consumption information arrives, but not about an unknown transaction`()
        async throws
    {
        let used = try #require(
            ConsumptionInformation(
                deliveryStatus: .delivered,
                isSampleProvided: true,
                consumptionPercentage: 25_000,
                refundPreference: .grantProrated
            )
        )
        try await TestStore.run(ticks: true) {
            ($0.subscriptions, $0.monthMilliseconds) = (0, 600_000)
        } _: { store in
            let id = try await Self.buy(store).originalTransactionId
            try await store.withClient { client in
                try await client.send(used, about: id, in: .production)
                let unknown = try await serverError {
                    try await client.send(used, about: "404", in: .production)
                }
                #expect(unknown.errorCode == .transactionIdNotFound)
            }
            let kept = String(
                decoding: try await store.get("/control/consumption"),
                as: UTF8.self
            )
            #expect(kept.contains(#""transactionId":"\#(id)""#) && kept.contains("GRANT_PRORATED"))
        }
    }

    @Test func `nothing is sent without --execute`() async throws {
        let store = try await StoreProcess.start(["--subscriptions", "0", "--month", "10m"])
        let made = try await store.post(
            "/control/subscriptions",
            #"{"productId":"\#(Self.product)"}"#
        )
        let bought = try JSONDecoder().decode(Bought.self, from: made)
        let id = bought.originalTransactionId
        func apple(_ arguments: String...) async throws -> Program.Ending {
            try await Program("subledger").run(["apple"] + arguments + store.flags)
        }
        func end() throws -> Int64? {
            let data = try store.get("/control/subscriptions/\(id)")
            return try JSONDecoder().decode(Bought.self, from: data).periods.last?.validTo
        }
        let before = try end()
        let extend = ["extend", id, "--days", "30", "--reason", "outage", "--request-id", "r"]
        let dry = try await Program("subledger").run(["apple"] + extend + store.flags)
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(dry.output.contains("PUT /inApps/v1/subscriptions/extend/\(id)"))
        #expect(dry.output.contains(#""extendReasonCode":3"#))
        #expect(try end() == before, "the request was sent without --execute")
        let sent = try await Program("subledger").run(
            ["apple"] + extend + ["--execute"] + store.flags
        )
        #expect(sent.code == 0 && sent.output.contains("ends at"), "\(sent.errors)")
        #expect(try end() != before)

        let all = ["extend-all", Self.product, "--days", "1", "--reason", "other"]
        let dryAll = try await Program("subledger").run(
            ["apple"] + all + ["--request-id", "all"] + store.flags
        )
        #expect(dryAll.code == 0 && dryAll.output.contains("extend/mass"), "\(dryAll.errors)")
        let unknown = try await apple("extension-status", Self.product, "all")
        #expect(unknown.code == 4 && unknown.errors.contains("does not know the extension"))
        let sentAll = try await Program("subledger").run(
            ["apple"] + all + ["--request-id", "all", "--execute"] + store.flags
        )
        #expect(sentAll.code == 0, "\(sentAll.errors)")
        let status = try await apple("extension-status", Self.product, "all")
        #expect(status.output.contains("1 subscription extended, 0 not"), "\(status.errors)")
        try await expectConsumption(of: id, store)
        await store.end()
    }

    private func expectConsumption(of id: String, _ store: StoreProcess) async throws {
        let flags = ["--delivery", "delivered", "--no-sample-provided", "--percent-consumed", "50"]
        func consumption(_ arguments: String...) async throws -> Program.Ending {
            try await Program("subledger").run(
                ["apple", "consumption", id] + flags + arguments + store.flags
            )
        }
        func kept() throws -> String {
            String(decoding: try store.get("/control/consumption"), as: UTF8.self)
        }
        let without = try await consumption("--execute")
        #expect(without.code == 64 && without.errors.contains("--customer-consented"))
        let dry = try await consumption("--customer-consented")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(dry.output.contains(#""consumptionPercentage":50000"#))
        #expect(try kept() == "[]", "the request was sent without --execute")
        let sent = try await consumption("--customer-consented", "--execute")
        #expect(sent.code == 0, "\(sent.errors)")
        #expect(try kept().contains("DELIVERED"))
        let foreign = try await Program("subledger").run(
            ["apple", "consumption", "404"] + flags + ["--customer-consented", "--execute"]
                + store.flags
        )
        #expect(foreign.code == 4 && foreign.errors.contains("4040010"), "\(foreign.errors)")
    }
}
