import AppStoreSimulator
import Events
import Foundation
import Testing

/// V1 notifications have Apple's types, are about the right moments, and list what was true then.
@Suite struct StatusUpdateTests {
    private func types(
        _ life: SubscriptionLife,
        style: ReceiptStyle = []
    ) throws -> [String] {
        try life.statusUpdateNotifications(style: style).map {
            try decode(StatusUpdateJSON.self, old: $0.payload).notificationType
        }
    }

    private let monthly = ScriptedLife.monthly

    @Test func `each event has the types in Apple's table`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-01-31T12:00Z")),
            .changeNow(to: ScriptedLife.proMonthly, offer: nil, at: at("2026-02-10")),
            .changeAtRenewal(to: monthly, at: at("2026-02-12")),
            .announcePriceIncrease(at: at("2026-02-13")),
            .acceptPriceIncrease(at: at("2026-02-14")),
            .turnAutoRenewOff(at: at("2026-02-20")), .turnAutoRenewOn(at: at("2026-02-21")),
            .failToRenew(graceUntil: nil, at: at("2026-03-10T00:10Z")),
            .recover(at: at("2026-03-12")),
            .refund(purchase: 3, percentage: nil, at: at("2026-03-20")),
            .subscribe(ScriptedLife.weekly, offer: nil, at: at("2026-05-01")),
        ]).life
        #expect(
            try types(life) == [
                "INITIAL_BUY", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS", "INTERACTIVE_RENEWAL",
                "DID_CHANGE_RENEWAL_PREF", "PRICE_INCREASE_CONSENT", "DID_CHANGE_RENEWAL_STATUS",
                "DID_CHANGE_RENEWAL_STATUS", "DID_FAIL_TO_RENEW", "DID_RECOVER", "CANCEL",
                "DID_CHANGE_RENEWAL_STATUS", "INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS",
            ]
        )
    }

    @Test func `only the renewal switch reports churn and the same product after a lapse`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .failToRenew(graceUntil: nil, at: at("2026-02-01T00:10Z")),
            .giveUp(at: at("2026-04-02T00:10Z")),
            .subscribe(monthly, offer: nil, at: at("2026-05-01")),
        ]).life
        #expect(
            try types(life) == [
                "INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_CHANGE_RENEWAL_STATUS",
                "DID_CHANGE_RENEWAL_STATUS",
            ]
        )
        let switches = try life.statusUpdateNotifications().suffix(2).map {
            try decode(StatusUpdateJSON.self, old: $0.payload)
        }
        #expect(switches.map(\.autoRenewStatus) == ["false", "true"])
        #expect(
            switches.last?.autoRenewStatusChangeDateMs == String(try at("2026-05-01").milliseconds)
        )
    }

    @Test func `a refunded consumable gets a CONSUMPTION_REQUEST, then a REFUND`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .buyConsumable(productId: "coins", quantity: 1, at: at("2026-01-02")),
            .refundOneTime(0, at: at("2026-01-05")),
        ]).life
        let bodies = try life.statusUpdateNotifications().map {
            try decode(StatusUpdateJSON.self, old: $0.payload)
        }
        #expect(
            bodies.map(\.notificationType) == ["INITIAL_BUY", "CONSUMPTION_REQUEST", "REFUND"]
        )
        #expect(bodies[1].unifiedReceipt.latestReceiptInfo.isEmpty)
        let coins = try #require(bodies[2].unifiedReceipt.latestReceiptInfo.first)
        #expect(coins.productId == "coins" && coins.expiresDateMs == nil)
        #expect(coins.cancellationDateMs == String(try at("2026-01-05").milliseconds))
        #expect(bodies[2].originalTransactionId == coins.originalTransactionId)
        let last = try #require(life.notifications().last)
        let refund = try ReadNotification(last)
        #expect(refund.outer.notificationType == "REFUND")
        #expect(refund.transaction.revocationDate == (try at("2026-01-05").milliseconds))
    }

    @Test func `family members and sandboxes get fewer types`() throws {
        let script: [LifeStep] = [
            .subscribe(monthly, offer: nil, at: try at("2026-01-01")),
            .announcePriceIncrease(at: try at("2026-01-02")),
            .stopSharing(at: try at("2026-01-10")),
        ]
        #expect(
            try types(ScriptedLife(ownership: .familyShared, script).life)
                == ["REVOKE", "DID_CHANGE_RENEWAL_STATUS"]
        )
        var seen: Set<String> = []
        for life in AppStoreSimulator(seed: 3, environment: .sandbox).lives(60) {
            for delivery in life.statusUpdateNotifications() {
                let body = try decode(StatusUpdateJSON.self, old: delivery.payload)
                seen.insert(body.notificationType)
                #expect(body.environment == "Sandbox")
                #expect(body.unifiedReceipt.environment == "Sandbox")
            }
        }
        #expect(
            seen == [
                "INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_RENEW",
                "INTERACTIVE_RENEWAL", "CANCEL",
            ]
        )
    }

    @Test func `a body lists at most the hundred newest rows of its moment`() throws {
        for life in AppStoreSimulator(seed: 12).lives(20) {
            for delivery in life.statusUpdateNotifications(password: "secret") {
                let body = try decode(StatusUpdateJSON.self, old: delivery.payload)
                let answer = try life.unified(asOf: delivery.signedAt)
                #expect(body.password == "secret")
                #expect(body.environment == "PROD")
                #expect(body.unifiedReceipt.environment == "Production")
                #expect(body.originalTransactionId == life.originalTransactionId)
                #expect(body.unifiedReceipt.latestReceiptInfo == answer.latestReceiptInfo)
                #expect(body.unifiedReceipt.latestReceipt == answer.latestReceipt)
                #expect(body.unifiedReceipt.pendingRenewalInfo == answer.pendingRenewalInfo)
            }
        }
        var script: [LifeStep] = [
            .subscribe(ScriptedLife.weekly, offer: nil, at: try at("2022-01-01"))
        ]
        for week in 1...120 {
            let start = try at("2022-01-01").milliseconds + Int64(week) * 7 * 86_400_000
            script.append(.renew(at: Instant(milliseconds: start)))
        }
        let long = try ScriptedLife(script).life
        let last = try #require(long.statusUpdateNotifications().last)
        let body = try decode(StatusUpdateJSON.self, old: last.payload)
        let all = try #require(long.unified(asOf: last.signedAt).latestReceiptInfo)
        #expect(all.count == 121)
        #expect(body.unifiedReceipt.latestReceiptInfo == Array(all.prefix(100)))
        let receipt = try #require(Data(base64Encoded: body.unifiedReceipt.latestReceipt))
        #expect(try ReadReceipt(Array(receipt)).purchases.count == 121)
    }

    @Test func `notifications are sent in order, each before the next step`() {
        let seed: UInt64 = 13
        for life in AppStoreSimulator(seed: seed).lives(60) {
            for style: ReceiptStyle in [[], .legacyNotification] {
                let sent = life.statusUpdateNotifications(style: style).map(\.signedAt)
                #expect(sent == sent.sorted(), "seed \(seed)")
                #expect(Set(sent).count == sent.count, "seed \(seed)")
            }
        }
    }

    @Test func `the body of 2018 has one transaction as an object, under old names`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .changeNow(to: ScriptedLife.proMonthly, offer: nil, at: at("2026-01-10")),
            .failToRenew(graceUntil: nil, at: at("2026-02-10T00:10Z")),
            .recover(at: at("2026-02-12")),
        ]).life
        let style: ReceiptStyle = [.legacyNotification, .withoutUnifiedReceipt]
        let bodies = try life.statusUpdateNotifications(style: style).map {
            try #require(
                try JSONSerialization.jsonObject(with: Data($0.payload)) as? [String: Any]
            )
        }
        #expect(
            bodies.compactMap { $0["notification_type"] as? String } == [
                "INITIAL_BUY", "CANCEL", "DID_CHANGE_RENEWAL_STATUS", "INTERACTIVE_RENEWAL",
                "DID_FAIL_TO_RENEW", "RENEWAL",
            ]
        )
        #expect(bodies.allSatisfy { $0["unified_receipt"] == nil })
        #expect(bodies.allSatisfy { $0["original_transaction_id"] == nil })
        let first = try #require(bodies[0]["latest_receipt_info"] as? [String: Any])
        #expect(first["expires_date"] as? String == String(try at("2026-02-01").milliseconds))
        #expect(first["expires_date_formatted"] as? String == "2026-02-01 00:00:00 Etc/GMT")
        let cancel = try #require(bodies[1]["latest_expired_receipt_info"] as? [String: Any])
        #expect(cancel["transaction_id"] as? String == life.originalTransactionId)
        #expect((bodies[1]["latest_receipt_info"] as? [String: Any])?.isEmpty == true)
        #expect(bodies[1]["latest_expired_receipt"] as? String == "")
        #expect(
            bodies[1]["cancellation_date_ms"] as? String
                == String(try at("2026-01-10").milliseconds)
        )
        #expect(
            bodies[1]["web_order_line_item_id"] as? String
                == cancel["web_order_line_item_id"] as? String
        )
        #expect(bodies[4]["expiration_intent"] as? String == "2")
    }
}
