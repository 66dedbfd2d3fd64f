import AppStoreSimulator
import Events
import Foundation
import Testing

/// The odd shapes of old payloads change how a fact is written, never the fact itself.
@Suite struct ReceiptStyleTests {
    private let life: SubscriptionLife

    init() throws {
        life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: .free(.weeks(1)), at: at("2026-01-01")),
            .renew(at: at("2026-01-08")),
            .changeNow(to: ScriptedLife.proMonthly, offer: nil, at: at("2026-01-20")),
            .restore(at: at("2026-01-21")),
            .refund(purchase: 1, percentage: nil, at: at("2026-01-22")),
        ]).life
    }

    private func rows(_ style: ReceiptStyle) throws -> [[String: Any]] {
        let answer = try answer(style)
        return try #require(answer["latest_receipt_info"] as? [[String: Any]])
    }

    private func answer(_ style: ReceiptStyle) throws -> [String: Any] {
        let body = life.verifyReceiptResponse(asOf: try at("2026-01-25"), style: style)
        return try #require(
            try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        )
    }

    private func text(_ style: ReceiptStyle) throws -> String {
        String(
            decoding: life.verifyReceiptResponse(asOf: try at("2026-01-25"), style: style),
            as: UTF8.self
        )
    }

    @Test func `booleans can be real`() throws {
        #expect(try text([]).contains(#""is_trial_period":"true""#))
        #expect(try text(.realBooleans).contains(#""is_trial_period":true"#))
        #expect(try text([]).contains(#""auto_renew_status":"1""#))
        #expect(try text(.realBooleans).contains(#""auto_renew_status":true"#))
    }

    @Test func `ids and milliseconds can be numbers`() throws {
        let id = life.originalTransactionId
        #expect(try text([]).contains(#""original_transaction_id":"\#(id)""#))
        let numeric = try text(.numericIds)
        #expect(numeric.contains(#""original_transaction_id":\#(id),"#))
        #expect(!numeric.contains(#"_ms":""#))
        #expect(numeric.contains(#""quantity":1,"#))
        let update = try #require(life.statusUpdateNotifications(style: .numericIds).first)
        let body = String(decoding: update.payload, as: UTF8.self)
        #expect(body.contains(#""original_transaction_id":\#(id),"deprecation""#))
    }

    @Test func `dates can be texts only`() throws {
        let row = try #require(try rows(.textDatesOnly).first)
        #expect(row["purchase_date"] as? String == "2026-01-20 00:00:00 Etc/GMT")
        #expect(row["purchase_date_pst"] as? String == "2026-01-19 16:00:00 America/Los_Angeles")
        #expect(try !text(.textDatesOnly).contains("_ms"))
    }

    @Test func `an unset property can be an empty text or null`() throws {
        let row = try #require(try rows(.emptyTexts).first)
        #expect(row["cancellation_date"] as? String == "")
        #expect(row["app_item_id"] as? String == "")
        #expect(row["version_external_identifier"] as? String == "")
        let refunded = try rows(.emptyTexts)[1]
        #expect(refunded["cancellation_date"] as? String == "2026-01-22 00:00:00 Etc/GMT")
        #expect(try text(.nullDownloadId).contains(#""download_id":null"#))
        #expect(try text([]).firstMatch(of: #/"download_id":[0-9]{18,19},/#) != nil)
    }

    @Test func `rows can lack their line items and old properties`() throws {
        #expect(try !text(.withoutLineItemIds).contains("web_order_line_item_id"))
        #expect(try rows([]).count == 3)
        let newest = try rows(.excludeOldTransactions)
        #expect(newest.count == 1)
        #expect(newest[0]["purchase_date"] as? String == "2026-01-20 00:00:00 Etc/GMT")
    }

    @Test func `milliseconds can be genuine, and periods stay contiguous`() throws {
        let rows = try rows(.subsecondDates)
        let purchase = try #require(rows[1]["purchase_date_ms"] as? String)
        #expect(!purchase.hasSuffix("000"))
        #expect(rows[2]["expires_date_ms"] as? String == purchase)
        #expect(rows[1]["purchase_date"] as? String == "2026-01-08 00:00:00 Etc/GMT")
        let milliseconds = try #require(Int64(purchase))
        #expect(
            Instant(milliseconds: milliseconds).flooredToSecond == (try at("2026-01-08"))
        )
    }

    @Test func `an upgrade can be marked by a cancellation date, also in the receipt`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .changeNow(to: ScriptedLife.proMonthly, offer: nil, at: at("2026-01-20")),
        ]).life
        let moment = try at("2026-01-25")
        let now = try #require(try life.unified(asOf: moment).latestReceiptInfo?.last)
        #expect(now.isUpgraded == "true" && now.cancellationDateMs == nil)
        let answer = try life.unified(asOf: moment, style: .upgradesCancelled)
        let old = try #require(answer.latestReceiptInfo?.last)
        #expect(old.isUpgraded == nil)
        #expect(old.cancellationDateMs == String(try at("2026-01-20").milliseconds))
        let latest = try #require(answer.latestReceipt.flatMap { Data(base64Encoded: $0) })
        let dates = try ReadReceipt(Array(latest)).purchases.map { try ReadReceipt.date($0, 1712) }
        #expect(dates.compactMap { $0 } == [try at("2026-01-20").milliseconds])
    }

    @Test func `the answer of a restored device has its own ids but the same periods`() throws {
        let plain = try rows([])
        let restored = try rows(.restoredIds)
        for (one, other) in zip(plain, restored) {
            #expect(one["transaction_id"] as? String != other["transaction_id"] as? String)
            for key in ["original_transaction_id", "web_order_line_item_id", "expires_date_ms"] {
                #expect(one[key] as? String == other[key] as? String)
            }
        }
    }

    @Test func `the iOS 6 answer gives one purchase in genuine milliseconds`() throws {
        let moment = try at("2026-01-15")
        let body = try #require(life.verifyReceiptResponse(ofPurchase: 0, asOf: moment))
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        )
        #expect(answer["status"] as? Int == 0)
        #expect(answer["auto_renew_status"] as? Int == 1)
        let sent = try #require(answer["receipt"] as? [String: Any])
        let latest = try #require(answer["latest_receipt_info"] as? [String: Any])
        let expiry = try #require(sent["expires_date"] as? String)
        #expect(!expiry.hasSuffix("000"))
        #expect(expiry.dropLast(3) + "000" == String(try at("2026-01-08").milliseconds))
        #expect(latest["purchase_date_ms"] as? String == expiry.dropLast(3) + "000")
        #expect(sent["expires_date_ms"] == nil)
        #expect(sent["expires_date_formatted"] as? String == "2026-01-08 00:00:00 Etc/GMT")
        let plist = try #require(
            (answer["latest_receipt"] as? String).flatMap { Data(base64Encoded: $0) }
        )
        let lines = String(decoding: plist, as: UTF8.self)
        let info = try #require(lines.firstMatch(of: #/"purchase-info" = "([^"]+)";/#)?.1)
        let inner = String(
            decoding: try #require(Data(base64Encoded: String(info))),
            as: UTF8.self
        )
        #expect(inner.contains(#""transaction-id" = "\#(latest["transaction_id"] ?? "")""#))
    }

    @Test func `after the end iOS 6 gets status 21006 with the expired receipt`() throws {
        let body = try #require(
            life.verifyReceiptResponse(ofPurchase: 1, asOf: at("2026-03-01"))
        )
        let answer = try #require(
            try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        )
        #expect(answer["status"] as? Int == 21_006)
        #expect(answer["latest_receipt_info"] == nil && answer["latest_receipt"] == nil)
        let expired = try #require(answer["latest_expired_receipt_info"] as? [String: Any])
        #expect(expired["expires_date"] as? String == String(try at("2026-02-20").milliseconds))
        let sent = try #require(answer["receipt"] as? [String: Any])
        #expect((sent["cancellation_date_ms"] as? String)?.hasSuffix("000") == false)
        #expect(life.verifyReceiptResponse(ofPurchase: 3, asOf: try at("2026-03-01")) == nil)
        #expect(life.verifyReceiptResponse(ofPurchase: 0, asOf: try at("2025-03-01")) == nil)
    }

    @Test func `the same seed gives the same bytes in every old format`() {
        for style: ReceiptStyle in [[], [.subsecondDates, .restoredIds, .legacyNotification]] {
            let runs = [7, 7, 8].map { seed in
                AppStoreSimulator(seed: seed).lives(6).flatMap {
                    $0.verifyReceiptPolls(style: style) + $0.appReceipts()
                        + $0.statusUpdateNotifications(style: style)
                }
            }
            #expect(runs[0] == runs[1])
            #expect(runs[0] != runs[2])
        }
    }
}
