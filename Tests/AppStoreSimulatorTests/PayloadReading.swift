import AppStoreSimulator
import Events
import Foundation

/// The payloads as the tests read them: plain JSON, without verification.
struct TransactionJSON: Decodable, Hashable {
    var transactionId: String
    var originalTransactionId: String
    var webOrderLineItemId: String?
    var productId: String
    var purchaseDate: Int64
    var expiresDate: Int64?
    var signedDate: Int64
    var isUpgraded: Bool?
    var offerType: Int64?
    var offerDiscountType: String?
    var inAppOwnershipType: String
    var appAccountToken: String?
    var revocationDate: Int64?
    var revocationType: String?
    var revocationPercentage: Int64?
    var price: Int64?
    var transactionReason: String
    var environment: String
}

struct RenewalJSON: Decodable, Hashable {
    var originalTransactionId: String
    var productId: String
    var autoRenewProductId: String
    var autoRenewStatus: Int64
    var renewalDate: Int64
    var gracePeriodExpiresDate: Int64?
    var isInBillingRetryPeriod: Bool?
    var expirationIntent: Int64?
    var signedDate: Int64
}

struct NotificationJSON: Decodable {
    struct Content: Decodable {
        var status: Int64?
        var environment: String
        var bundleId: String
        var appAppleId: Int64
        var signedTransactionInfo: String
        var signedRenewalInfo: String?
    }
    var notificationType: String
    var subtype: String?
    var notificationUUID: String
    var signedDate: Int64
    var version: String
    var data: Content
}

struct NotificationBody: Decodable {
    var signedPayload: String
}

struct HistoryJSON: Decodable {
    var revision: String
    var hasMore: Bool
    var signedTransactions: [String]
}

struct StatusesJSON: Decodable {
    struct Group: Decodable {
        var subscriptionGroupIdentifier: String
        var lastTransactions: [Last]
    }
    struct Last: Decodable {
        var originalTransactionId: String
        var status: Int64
        var signedTransactionInfo: String
        var signedRenewalInfo: String
    }
    var data: [Group]
}

/// A text that is not a JWS of three parts.
struct NotAJWS: Error {}

func decode<Value: Decodable>(_ type: Value.Type, json bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
}

func decode<Value: Decodable>(_ type: Value.Type, jws: String) throws -> Value {
    try JSONDecoder().decode(type, from: jwsParts(jws).payload)
}

func jwsParts(_ jws: String) throws -> (header: Data, payload: Data, signature: Data) {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map { part in
        let standard = part.replacing("-", with: "+").replacing("_", with: "/")
        return Data(
            base64Encoded: standard + String(repeating: "=", count: (4 - part.utf8.count % 4) % 4)
        )
    }
    guard parts.count == 3, let header = parts[0], let payload = parts[1], let signature = parts[2]
    else { throw NotAJWS() }
    return (header, payload, signature)
}

/// A notification and the JWS nested in it.
struct ReadNotification {
    let outer: NotificationJSON
    let transaction: TransactionJSON
    let renewal: RenewalJSON?

    init(_ delivery: Delivery) throws {
        let body = try decode(NotificationBody.self, json: delivery.payload)
        outer = try decode(NotificationJSON.self, jws: body.signedPayload)
        transaction = try decode(TransactionJSON.self, jws: outer.data.signedTransactionInfo)
        renewal = try outer.data.signedRenewalInfo.map { try decode(RenewalJSON.self, jws: $0) }
    }
}
