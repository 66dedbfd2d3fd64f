import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Projections
import SimulatedStoreService
import Subledger
import SubledgerAppStore
import TestSupport
import Testing

/// A store as a team builds against it: purchases and all else by commands.
@Suite struct ControlledStoreTests {
    private struct Truth: Decodable {
        let originalTransactionId: String
        let appTransactionId: String
        let appAccountToken: String?
        let productId: String
        let status: String
        let autoRenew: Bool?
        let periods: [Period]

        struct Period: Decodable, Hashable {
            let productId: String
            let validFrom: Instant
            let validTo: Instant
            let kind: String
            let endReason: String
        }
    }

    private struct Refusal: Decodable {
        let error: String
        let message: String
    }

    private static let plus = "example.subledger.lumen.plus.monthly"
    private static let pro = "example.subledger.lumen.pro.monthly"
    private static let token = "7e3fb204-2d5e-4a52-9d0f-6a3c1f2b8e11"

    private static func buy(_ store: TestStore, _ members: String = "") async throws -> Truth {
        let (status, data) = try await store.post(
            "/control/subscriptions",
            #"{"productId":"\#(plus)"\#(members)}"#
        )
        #expect(status == 201, "\(String(decoding: data, as: UTF8.self))")
        return try JSONDecoder().decode(Truth.self, from: data)
    }

    private static func act(
        _ store: TestStore,
        _ id: String,
        _ action: String,
        _ body: String = ""
    ) async throws -> Truth {
        let (status, data) = try await store.post("/control/subscriptions/\(id)/\(action)", body)
        #expect(status == 200, "\(action): \(String(decoding: data, as: UTF8.self))")
        return try JSONDecoder().decode(Truth.self, from: data)
    }

    @Test func `what commands do reaches a ledger, by notifications and by questions`() async throws
    {
        try await PolledLedger.run(seed: 1) { polled in
            try await polled.receiving { url in
                try await TestStore.run(ticks: true) {
                    $0.subscriptions = 0
                    $0.monthMilliseconds = 600_000
                    $0.notificationURL = url
                } _: { store in
                    let bought = try await Self.buy(
                        store,
                        #","offer":"FREE_TRIAL","appAccountToken":"\#(Self.token)""#
                    )
                    let id = bought.originalTransactionId
                    #expect(bought.periods.map(\.kind) == ["trial"])
                    #expect(bought.status == "active" && bought.autoRenew == true)
                    #expect(bought.appAccountToken == Self.token)
                    _ = try await Self.act(store, id, "auto-renew-off")
                    let on = try await Self.act(store, id, "auto-renew-on")
                    #expect(on.autoRenew == true)
                    let up = try await Self.act(
                        store,
                        id,
                        "change",
                        #"{"productId":"\#(Self.pro)"}"#
                    )
                    #expect(up.productId == Self.pro && up.periods.count == 2)
                    let refunded = try await Self.act(store, id, "refund")
                    #expect(refunded.status == "revoked")
                    let restored = try await Self.act(store, id, "reverse-refund")
                    #expect(
                        restored.status == "active" && restored.periods.last?.endReason == "open"
                    )
                    try await store.waitUntilSent()
                    let periods = try await polled.ledger.periods(
                        of: StreamID(environment: .production, originalTransactionId: id)
                    ).rows.map {
                        Truth.Period(
                            productId: $0.productId,
                            validFrom: $0.validFrom,
                            validTo: $0.validTo,
                            kind: $0.kind.rawValue,
                            endReason: $0.endReason.rawValue
                        )
                    }
                    #expect(periods == restored.periods)
                    let report = try await polled.poll(
                        .ids([bought.appTransactionId]),
                        store,
                        clock: { .systemClock() }
                    )
                    #expect(report.answered == 1 && report.rejected == 0)
                }
            }
        }
    }

    @Test func `a period that is not paid for is retried, and one that is extended is longer`()
        async throws
    {
        try await TestStore.run(ticks: true) {
            $0.subscriptions = 0
            // A day takes a second.
            $0.monthMilliseconds = 30_000
        } _: { store in
            let id = try await store.post(
                "/control/subscriptions",
                #"{"productId":"example.subledger.lumen.basic.weekly","environment":"Sandbox"}"#
            ).1
            let bought = try JSONDecoder().decode(Truth.self, from: id)
            _ = try await Self.act(
                store,
                bought.originalTransactionId,
                "fail-billing",
                #"{"graceDays":28}"#
            )
            func truth() async throws -> Truth {
                let data = try await store.get(
                    "/control/subscriptions/\(bought.originalTransactionId)"
                )
                return try JSONDecoder().decode(Truth.self, from: data)
            }
            var now = try await truth()
            try await eventually("the subscription is no longer active") {
                now = try await truth()
                return now.status != "active"
            }
            #expect(now.status == "grace_period" && now.periods.last?.kind == "grace")
            let recovered = try await Self.act(
                store,
                bought.originalTransactionId,
                "recover-billing"
            )
            #expect(recovered.periods.map(\.kind) == ["paid", "paid"])
            let end = try #require(recovered.periods.last?.validTo)
            let extended = try await Self.act(
                store,
                bought.originalTransactionId,
                "extend",
                #"{"days":30}"#
            )
            // On a loaded machine whole weeks, of seven seconds, may have been paid meanwhile.
            let added = (extended.periods.last?.validTo.milliseconds ?? 0) - end.milliseconds
            #expect(added >= 30_000 && added % 7_000 == 30_000 % 7_000)
        }
    }

    @Test(arguments: [
        ("", #"{"productId":"nothing"}"#, 400, "/control/products"),
        ("", "[]", 400, "JSON object"),
        ("", #"{"productId":"PLUS","environment":"Xcode"}"#, 400, "Production or Sandbox"),
        ("", #"{"productId":"PLUS","appAccountToken":"me"}"#, 400, "UUID"),
        ("", #"{"productId":"PLUS","offer":"CHEAP"}"#, 400, "FREE_TRIAL"),
        ("/1/refund", "", 404, "no subscription has the id"),
        ("/ID/dance", "", 404, "recover-billing"),
        ("/ID/extend", #"{"days":91}"#, 400, "1 to 90"),
        ("/ID/auto-renew-on", "", 409, "must be off"),
        ("/ID/reverse-refund", "", 409, "refunded"),
        ("/DRAWN/refund", "", 409, "follows from the seed"),
    ])
    func `a command that cannot be obeyed says why`(
        path: String,
        body: String,
        status: Int,
        words: String
    ) async throws {
        try await TestStore.run(ticks: true) {
            $0.subscriptions = 1
        } _: { store in
            let id = try await Self.buy(store).originalTransactionId
            let drawn = try #require(store.server.lives.first).originalTransactionId
            let (found, data) = try await store.post(
                "/control/subscriptions"
                    + path.replacing("ID", with: id).replacing("DRAWN", with: drawn),
                body.replacing("PLUS", with: Self.plus)
            )
            let refusal = try JSONDecoder().decode(Refusal.self, from: data)
            #expect(found == status && refusal.message.contains(words), "\(refusal)")
        }
    }

    @Test func `a delivery that waits for its time holds no place`() async throws {
        try await OddServer.run { _, _ in
            OddServer.json("{}")
        } _: { receiver, count in
            try await TestStore.run(ticks: true) {
                $0.subscriptions = 0
                // Two hours, the longest delay, take twelve minutes: longer than is waited for. A
                // notification is signed within seconds.
                $0.monthMilliseconds = 3 * 86_400_000
                $0.delayed = 0.5
                $0.notificationURL = receiver + "/notifications"
            } _: { store in
                for _ in 0..<100 { _ = try await Self.buy(store) }
                try await eventually("35 of 100 have arrived") { count() >= 35 }
                #expect(count() <= 75, "\(count()) of 100 arrived")
            }
        }
    }
}
