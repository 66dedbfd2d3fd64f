import AppStore
import Events
import Foundation
import Subledger

/// A synthetic response of Apple's verifyReceipt, to be decoded by us and by `JSONDecoder`.
///
/// Every row has every key that a row can have (Apple's data: verifyReceipt response), in the order
/// and with the white space of Apple's responses. `latest_receipt`, in practice a third of the
/// bytes, is short: one long string would favour decoders that skip strings fast.
struct VerifyReceiptResponse {
    let bytes: [UInt8]
    private let data: Data

    /// Rows in `latest_receipt_info`: ten years of a weekly subscription.
    static let rowCount = 500
    /// Members of all objects: six at the top, eighteen in the receipt, those of the rows, five of
    /// the renewal.
    static let memberCount = 6 + 18 + rowCount * 28 + 5

    /// One fact for each row, and one for the renewal.
    static let factCount = rowCount + 1

    /// The response with that number; each has other ids and dates.
    init(number: Int, rows rowCount: Int = rowCount) {
        let rows = (0..<rowCount).map {
            VerifyReceiptResponse.row(number: number, index: $0)
        }
        let id = VerifyReceiptResponse.originalId(number)
        let created = VerifyReceiptResponse.dates("receipt_creation_date", 1_600_000_000)
        let asked = VerifyReceiptResponse.dates("request_date", 1_600_000_060)
        let bought = VerifyReceiptResponse.dates("original_purchase_date", 1_400_000_000)
        let receiptText = String(repeating: "MIIT6gYJKoZIhvcNAQcCoIIT2zCCE9cC", count: 32)
        let text = """
            {"status":0, "environment":"Production",
            "receipt":{"receipt_type":"Production", "adam_id":1250000000, \
            "app_item_id":1250000000, "bundle_id":"com.example.bench", \
            "application_version":"3412", "download_id":5093820480\(100 + number), \
            "version_external_identifier":836000000, \(created), \(asked), \(bought), \
            "original_application_version":"1201",
            "in_app":[]},
            "latest_receipt_info":[
            \(rows.joined(separator: ",\n"))],
            "latest_receipt":"\(receiptText)",
            "pending_renewal_info":[{"auto_renew_product_id":"com.example.bench.weekly", \
            "original_transaction_id":"\(id)", "product_id":"com.example.bench.weekly", \
            "auto_renew_status":"1", "is_in_billing_retry_period":"0"}]}
            """
        bytes = Array(text.utf8)
        data = Data(bytes)
    }

    private static func originalId(_ number: Int) -> Int {
        430_000_700_000_000 + number * 1_000_000
    }

    private static func row(number: Int, index: Int) -> String {
        let id = originalId(number) + index
        let purchase = 1_300_000_000 + number * 3600 + index * 7 * 86_400
        let expires = purchase + 7 * 86_400
        let token = "7e3fb204-2c9d-4b1a-9d5e-\(String(id - 400_000_000_000_000, radix: 16))"
        return """
            {"quantity":"1", "product_id":"com.example.bench.weekly", \
            "transaction_id":"\(id)", "original_transaction_id":"\(originalId(number))", \
            \(dates("purchase_date", purchase)), \
            \(dates("original_purchase_date", 1_300_000_000)), \
            \(dates("expires_date", expires)), \
            \(dates("cancellation_date", expires - 3600)), \
            "web_order_line_item_id":"\(id + 90_000)", "is_trial_period":"false", \
            "app_item_id":"", "version_external_identifier":"", \
            "is_in_intro_offer_period":"false", "cancellation_reason":"0", \
            "is_upgraded":"true", "promotional_offer_id":"winback-3m", \
            "offer_code_ref_name":"Spring 2024", "app_account_token":"\(token)", \
            "in_app_ownership_type":"PURCHASED", "subscription_group_identifier":"20512345"}
            """
    }

    // The three formats of a date; Pacific time without daylight saving, which no decoder checks.
    private static func dates(_ name: String, _ second: Int) -> String {
        let utc = Instant(milliseconds: Int64(second) * 1000)
        let pacific = Instant(milliseconds: Int64(second - 8 * 3600) * 1000)
        return """
            "\(name)":"\(clock(utc)) Etc/GMT", "\(name)_ms":"\(utc.milliseconds)", \
            "\(name)_pst":"\(clock(pacific)) America/Los_Angeles"
            """
    }

    // In the format of these responses: without the T and the Z.
    private static func clock(_ instant: Instant) -> String {
        instant.description.replacing("T", with: " ").replacing("Z", with: "")
    }
}

extension VerifyReceiptResponse {
    /// Parses with our parser: checks everything, visits every member, and counts them.
    func parse() throws -> Int {
        var memberCount = 0
        try JSON(bytes).root.walk { name, value in
            if name.byteCount > 0, value.byteCount >= 0 { memberCount += 1 }
        }
        return memberCount
    }

    /// Decodes with `JSONDecoder`; counts the rows.
    func decodePlain() throws -> Int {
        try JSONDecoder().decode(PlainResponse.self, from: data).latestReceiptInfo.count
    }
}

/// The response as an app would declare it; ids and dates stay strings.
private struct PlainResponse: Decodable {
    let status: Int
    let environment: String
    let receipt: Receipt
    let latestReceiptInfo: [PlainRow]
    let latestReceipt: String
    let pendingRenewalInfo: [Renewal]

    enum CodingKeys: String, CodingKey {
        case status, environment, receipt
        case latestReceiptInfo = "latest_receipt_info"
        case latestReceipt = "latest_receipt"
        case pendingRenewalInfo = "pending_renewal_info"
    }

    struct Receipt: Decodable {
        let receiptType: String
        let bundleId: String
        let receiptCreationDateMs: String

        enum CodingKeys: String, CodingKey {
            case receiptType = "receipt_type"
            case bundleId = "bundle_id"
            case receiptCreationDateMs = "receipt_creation_date_ms"
        }
    }

    struct Renewal: Decodable {
        let originalTransactionId: String
        let productId: String
        let autoRenewProductId: String?
        let autoRenewStatus: String?
        let isInBillingRetryPeriod: String?

        enum CodingKeys: String, CodingKey {
            case originalTransactionId = "original_transaction_id"
            case productId = "product_id"
            case autoRenewProductId = "auto_renew_product_id"
            case autoRenewStatus = "auto_renew_status"
            case isInBillingRetryPeriod = "is_in_billing_retry_period"
        }
    }
}

/// A row with every key of Apple's data: verifyReceipt response; optional if Apple may omit it.
private struct PlainRow: Decodable {
    let quantity: String
    let productId: String
    let transactionId: String
    let originalTransactionId: String
    let purchaseDate: String
    let purchaseDateMs: String
    let purchaseDatePst: String
    let originalPurchaseDate: String
    let originalPurchaseDateMs: String
    let originalPurchaseDatePst: String
    let expiresDate: String?
    let expiresDateMs: String?
    let expiresDatePst: String?
    let cancellationDate: String?
    let cancellationDateMs: String?
    let cancellationDatePst: String?
    let webOrderLineItemId: String?
    let isTrialPeriod: String?
    let appItemId: String?
    let versionExternalIdentifier: String?
    let isInIntroOfferPeriod: String?
    let cancellationReason: String?
    let isUpgraded: String?
    let promotionalOfferId: String?
    let offerCodeRefName: String?
    let appAccountToken: String?
    let inAppOwnershipType: String?
    let subscriptionGroupIdentifier: String?

    enum CodingKeys: String, CodingKey {
        case quantity
        case productId = "product_id"
        case transactionId = "transaction_id"
        case originalTransactionId = "original_transaction_id"
        case purchaseDate = "purchase_date"
        case purchaseDateMs = "purchase_date_ms"
        case purchaseDatePst = "purchase_date_pst"
        case originalPurchaseDate = "original_purchase_date"
        case originalPurchaseDateMs = "original_purchase_date_ms"
        case originalPurchaseDatePst = "original_purchase_date_pst"
        case expiresDate = "expires_date"
        case expiresDateMs = "expires_date_ms"
        case expiresDatePst = "expires_date_pst"
        case cancellationDate = "cancellation_date"
        case cancellationDateMs = "cancellation_date_ms"
        case cancellationDatePst = "cancellation_date_pst"
        case webOrderLineItemId = "web_order_line_item_id"
        case isTrialPeriod = "is_trial_period"
        case appItemId = "app_item_id"
        case versionExternalIdentifier = "version_external_identifier"
        case isInIntroOfferPeriod = "is_in_intro_offer_period"
        case cancellationReason = "cancellation_reason"
        case isUpgraded = "is_upgraded"
        case promotionalOfferId = "promotional_offer_id"
        case offerCodeRefName = "offer_code_ref_name"
        case appAccountToken = "app_account_token"
        case inAppOwnershipType = "in_app_ownership_type"
        case subscriptionGroupIdentifier = "subscription_group_identifier"
    }
}
