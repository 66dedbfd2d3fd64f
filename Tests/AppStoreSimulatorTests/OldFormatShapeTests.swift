import AppStoreSimulator
import Events
import Foundation
import TestSupport
import Testing

/// Old formats have exactly the keys that Apple documents.
@Suite struct OldFormatShapeTests {
    // Apple's data: verifyReceipt response.
    private static let inApp: Set<String> =
        threeForms("purchase_date", "original_purchase_date", "expires_date", "cancellation_date")
        .union([
            "quantity", "product_id", "transaction_id", "original_transaction_id",
            "web_order_line_item_id", "cancellation_reason", "is_trial_period",
            "is_in_intro_offer_period", "promotional_offer_id",
        ])
    private static let latest = inApp.union([
        "is_upgraded", "offer_code_ref_name", "subscription_group_identifier",
        "in_app_ownership_type", "app_account_token",
    ])
    private static let pending: Set<String> = threeForms("grace_period_expires_date").union([
        "original_transaction_id", "product_id", "auto_renew_product_id", "auto_renew_status",
        "expiration_intent", "is_in_billing_retry_period", "price_consent_status",
        "price_increase_status", "promotional_offer_id", "offer_code_ref_name",
    ])
    private static let receipt: Set<String> =
        threeForms("receipt_creation_date", "request_date", "original_purchase_date")
        .union(threeForms("preorder_date"))
        .union([
            "receipt_type", "adam_id", "app_item_id", "bundle_id", "application_version",
            "original_application_version", "download_id", "version_external_identifier", "in_app",
        ])
    // Documented only for latest_receipt_info; real receipts since 2021 have it in both.
    private static let inAppObserved: Set<String> = ["in_app_ownership_type"]
    private static let unified: Set<String> =
        Set(["status", "environment", "receipt", "latest_receipt"])
        .union(["latest_receipt_info", "pending_renewal_info"])
        .union(within("receipt", receipt))
        .union(within("receipt.in_app", inApp.union(inAppObserved)))
        .union(within("latest_receipt_info", latest))
        .union(within("pending_renewal_info", pending))

    // Apple's data: iOS 6 response.
    private static let single: Set<String> =
        threeForms("purchase_date", "original_purchase_date", "cancellation_date").union([
            "original_transaction_id", "transaction_id", "product_id", "quantity", "item_id",
            "app_item_id", "bid", "bvrs", "unique_identifier", "unique_vendor_identifier",
            "version_external_identifier", "web_order_line_item_id", "expires_date",
            "expires_date_formatted", "expires_date_formatted_pst", "is_trial_period",
            "is_in_intro_offer_period",
        ])
    private static let singleAnswer: Set<String> =
        Set([
            "status", "receipt", "latest_receipt", "latest_receipt_info",
            "latest_expired_receipt_info", "auto_renew_status", "auto_renew_product_id",
            "expiration_intent", "is_in_billing_retry_period", "cancellation_reason",
        ])
        .union(within("receipt", single))
        .union(within("latest_receipt_info", single.subtracting(threeForms("cancellation_date"))))
        .union(within("latest_expired_receipt_info", single))

    // Apple's data: version 1 body.
    private static let statusUpdate: Set<String> =
        Set([
            "notification_type", "environment", "password", "auto_renew_product_id",
            "auto_renew_adam_id", "auto_renew_status", "expiration_intent",
            "original_transaction_id", "bid", "bvrs", "deprecation", "unified_receipt",
        ])
        .union(threeForms("auto_renew_status_change_date"))
        .union(
            within(
                "unified_receipt",
                Set(["status", "environment", "latest_receipt"])
                    .union(["latest_receipt_info", "pending_renewal_info"])
                    .union(within("latest_receipt_info", latest))
                    .union(within("pending_renewal_info", pending))
            )
        )
    private static let legacyOnly: Set<String> =
        threeForms("cancellation_date").union([
            "latest_receipt", "latest_receipt_info", "latest_expired_receipt",
            "latest_expired_receipt_info", "web_order_line_item_id",
        ])

    private func keys(of bodies: [[UInt8]]) throws -> Set<String> {
        try bodies.reduce(into: Set()) { $0.formUnion(try keyPaths($1)) }
    }

    private let lives = Array(AppStoreSimulator(seed: 1).lives(100))

    @Test func `unified answers have exactly the documented keys`() throws {
        let seen = try keys(of: lives.flatMap { $0.verifyReceiptPolls().map(\.payload) })
        #expect(seen.symmetricDifference(Self.unified) == [])
        let volume = try keys(
            of: lives.prefix(3).map {
                $0.verifyReceiptResponse(asOf: try at("2026-01-01"), style: .volumePurchase)
            }
        )
        #expect(
            volume.subtracting(Self.unified)
                == within("receipt", threeForms("expiration_date"))
        )
    }

    @Test func `answers of iOS 6 have exactly the documented keys`() throws {
        var seen: Set<String> = []
        for life in lives {
            for moment in life.moments {
                guard let body = life.verifyReceiptResponse(ofPurchase: 0, asOf: moment)
                else { continue }
                seen.formUnion(try keyPaths(body))
            }
        }
        #expect(seen.symmetricDifference(Self.singleAnswer) == [])
    }

    @Test func `V1 bodies have exactly the documented keys`() throws {
        let seen = try keys(of: lives.flatMap { $0.statusUpdateNotifications().map(\.payload) })
        #expect(seen.symmetricDifference(Self.statusUpdate) == [])
        let legacy = try keys(
            of: lives.flatMap {
                $0.statusUpdateNotifications(style: .legacyNotification).map(\.payload)
            }
        ).filter { !$0.contains(".") }
        let present = Self.statusUpdate.filter { !$0.contains(".") }
        #expect(legacy.subtracting(present) == Self.legacyOnly)
        #expect(present.subtracting(legacy) == ["original_transaction_id", "deprecation"])
    }

    @Test func `text dates and milliseconds agree to the second, in both zones`() throws {
        let pacific = try #require(TimeZone(identifier: "America/Los_Angeles"))
        let gmt = try #require(TimeZone(identifier: "GMT"))
        var seasons: Set<Int> = []
        for life in lives.prefix(60) {
            let moment = try #require(life.moments.last)
            for style: ReceiptStyle in [[], .subsecondDates] {
                let body = life.verifyReceiptResponse(asOf: moment, style: style)
                let object = try JSONSerialization.jsonObject(with: Data(body))
                try eachObject(object) { object in
                    for (key, value) in object where key.hasSuffix("_ms") {
                        let name = String(key.dropLast(3))
                        let milliseconds = try #require((value as? String).flatMap { Int64($0) })
                        let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
                        seasons.insert(pacific.secondsFromGMT(for: date))
                        #expect(object[name] as? String == text(date, gmt) + " Etc/GMT")
                        #expect(
                            object[name + "_pst"] as? String
                                == text(date, pacific) + " America/Los_Angeles"
                        )
                    }
                }
            }
        }
        #expect(seasons == [-7 * 3600, -8 * 3600])
    }

    @Test func `Pacific time changes at two in the night on both Sundays of every year`() throws {
        let pacific = try #require(TimeZone(identifier: "America/Los_Angeles"))
        for year in stride(from: 2009, through: 2040, by: 1) {
            for day in ["\(year)-03-01", "\(year)-11-01"] {
                let start = try at(day)
                let before = Date(timeIntervalSince1970: Double(start.milliseconds / 1000))
                let change = try #require(pacific.nextDaylightSavingTimeTransition(after: before))
                for offset in [-1, 0] {
                    let date = change.addingTimeInterval(Double(offset))
                    try expectPurchase(at: date, text: text(date, pacific))
                }
            }
        }
    }

    private func expectPurchase(at date: Date, text: String) throws {
        let instant = Instant(milliseconds: Int64(date.timeIntervalSince1970) * 1000)
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: instant)
        ]).life
        let body = life.verifyReceiptResponse(asOf: instant)
        let expected = #""purchase_date_pst":"\#(text) America/Los_Angeles""#
        #expect(String(decoding: body, as: UTF8.self).contains(expected), "\(instant)")
    }

    @Test(.enabled(if: RealData.isPresent))
    func `every key in Apple's real answers is also one of ours`() throws {
        let names = [
            "RevenueCat__purchases-ios/verifyReceiptSample1.json",
            "Omnimind-Ltd__app-store-server-sdk/verify_receipt.json",
            "xiachufang__storekit-python/verifyReceipt-production-intro.json",
            "pointfreeco__isowords/verifyReceipt-1.json",
        ]
        for name in names {
            let body = try Data(contentsOf: URL(fileURLWithPath: RealData.path(name)))
            #expect(try keyPaths(Array(body)).subtracting(Self.unified) == [], "\(name)")
        }
        let old = try RealData.path("nomad__venice/receipt_expired_cancelled.json")
        let body = try Data(contentsOf: URL(fileURLWithPath: old))
        #expect(try keyPaths(Array(body)).subtracting(Self.singleAnswer) == [])
        let update = try RealData.path(
            "imdhemy__appstore-iap/v1-DID_CHANGE_RENEWAL_STATUS-anonymised.json"
        )
        let notification = try Data(contentsOf: URL(fileURLWithPath: update))
        #expect(try keyPaths(Array(notification)).subtracting(Self.statusUpdate) == [])
    }

    private func text(_ date: Date, _ zone: TimeZone) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        return formatter.string(from: date)
    }

    private func eachObject(
        _ value: Any,
        _ body: ([String: Any]) throws -> Void
    ) throws {
        if let object = value as? [String: Any] {
            try body(object)
            for inner in object.values { try eachObject(inner, body) }
        } else if let array = value as? [Any] {
            for inner in array { try eachObject(inner, body) }
        }
    }
}
