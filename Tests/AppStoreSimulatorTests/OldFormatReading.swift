import AppStoreSimulator
import Events
import Foundation

/// A row of an old format, as texts that tests compare.
struct RowJSON: Decodable, Hashable {
    var productId: String
    var transactionId: String
    var originalTransactionId: String
    var quantity: String
    var webOrderLineItemId: String?
    var purchaseDateMs: String
    var originalPurchaseDateMs: String
    var expiresDateMs: String?
    var cancellationDateMs: String?
    var cancellationReason: String?
    var isTrialPeriod: String
    var isInIntroOfferPeriod: String?
    var isUpgraded: String?
    var inAppOwnershipType: String?
    var appAccountToken: String?
    var subscriptionGroupIdentifier: String?
    var promotionalOfferId: String?
    var offerCodeRefName: String?
}

struct PendingJSON: Decodable, Hashable {
    var originalTransactionId: String
    var productId: String
    var autoRenewProductId: String
    var autoRenewStatus: String
    var expirationIntent: String?
    var isInBillingRetryPeriod: String?
    var gracePeriodExpiresDateMs: String?
}

struct UnifiedJSON: Decodable {
    struct Receipt: Decodable {
        var receiptType: String
        var bundleId: String
        var receiptCreationDateMs: String
        var requestDateMs: String
        var inApp: [RowJSON]
    }
    var status: Int
    var environment: String
    var receipt: Receipt
    var latestReceipt: String?
    var latestReceiptInfo: [RowJSON]?
    var pendingRenewalInfo: [PendingJSON]?
}

/// The same content as in a JWS, by which tests compare the formats.
extension UnifiedJSON {
    struct NotANumber: Error { let text: String }

    func transactions() throws -> [TransactionJSON] {
        let signedDate = try number(receipt.requestDateMs)
        return try (latestReceiptInfo ?? []).map { row in
            let isIntroductory = row.isTrialPeriod == "true" || row.isInIntroOfferPeriod == "true"
            let isOffer = row.promotionalOfferId != nil || row.offerCodeRefName != nil
            return TransactionJSON(
                transactionId: row.transactionId,
                originalTransactionId: row.originalTransactionId,
                webOrderLineItemId: row.webOrderLineItemId,
                productId: row.productId,
                purchaseDate: try number(row.purchaseDateMs),
                expiresDate: try row.expiresDateMs.map(number),
                signedDate: signedDate,
                isUpgraded: row.isUpgraded.map { $0 == "true" },
                offerType: isIntroductory ? 1 : isOffer ? 2 : nil,
                offerDiscountType: row.isTrialPeriod == "true" ? "FREE_TRIAL" : nil,
                inAppOwnershipType: row.inAppOwnershipType ?? "PURCHASED",
                revocationDate: try row.cancellationDateMs.map(number),
                transactionReason: "",
                environment: environment
            )
        }
    }

    /// The renewal info; if the element was removed, that nothing will renew.
    func renewal(of stream: String) throws -> RenewalJSON? {
        let rows = try transactions().filter { $0.originalTransactionId == stream }
        guard let newest = rows.max(by: { $0.purchaseDate < $1.purchaseDate }) else { return nil }
        let pending = pendingRenewalInfo?.first
        return RenewalJSON(
            originalTransactionId: stream,
            productId: pending?.productId ?? newest.productId,
            autoRenewProductId: pending?.autoRenewProductId ?? newest.productId,
            autoRenewStatus: pending?.autoRenewStatus == "1" ? 1 : 0,
            renewalDate: newest.expiresDate ?? 0,
            gracePeriodExpiresDate: try pending?.gracePeriodExpiresDateMs.map(number),
            isInBillingRetryPeriod: pending?.isInBillingRetryPeriod.map { $0 == "1" },
            expirationIntent: try pending?.expirationIntent.map(number),
            signedDate: newest.signedDate
        )
    }

    private func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text) else { throw NotANumber(text: text) }
        return number
    }
}

struct StatusUpdateJSON: Decodable {
    struct Unified: Decodable {
        var status: Int
        var environment: String
        var latestReceipt: String
        var latestReceiptInfo: [RowJSON]
        var pendingRenewalInfo: [PendingJSON]
    }
    var notificationType: String
    var environment: String
    var password: String
    var autoRenewStatus: String?
    var autoRenewStatusChangeDateMs: String?
    var originalTransactionId: String?
    var unifiedReceipt: Unified
}

/// A body with Apple's old names, all in snake case.
func decode<Value: Decodable>(_ type: Value.Type, old bytes: [UInt8]) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(bytes))
}

extension SubscriptionLife {
    func unified(asOf instant: Instant, style: ReceiptStyle = []) throws -> UnifiedJSON {
        try decode(
            UnifiedJSON.self,
            old: verifyReceiptResponse(asOf: instant, style: style)
        )
    }

    /// The transactions of the Server API's history at an instant, by transaction id.
    func historyTransactions(asOf instant: Instant) throws -> [String: TransactionJSON] {
        var result: [String: TransactionJSON] = [:]
        for page in history(asOf: instant) {
            for jws in try decode(HistoryJSON.self, json: page.payload).signedTransactions {
                let transaction = try decode(TransactionJSON.self, jws: jws)
                result[transaction.transactionId] = transaction
            }
        }
        return result
    }

    /// Every instant just after something was signed.
    var moments: [Instant] { notifications().map(\.signedAt) }
}

/// JSON without a model: every key of every object, prefixed with the names of its parents.
func keyPaths(_ json: [UInt8]) throws -> Set<String> {
    var paths: Set<String> = []
    collectKeys(try JSONSerialization.jsonObject(with: Data(json)), under: "", into: &paths)
    return paths
}

private func collectKeys(_ value: Any, under path: String, into paths: inout Set<String>) {
    if let object = value as? [String: Any] {
        for (key, inner) in object {
            let name = path.isEmpty ? key : path + "." + key
            paths.insert(name)
            collectKeys(inner, under: name, into: &paths)
        }
    } else if let array = value as? [Any] {
        for inner in array { collectKeys(inner, under: path, into: &paths) }
    }
}

/// The names of an instant's three forms.
func threeForms(_ names: String...) -> Set<String> {
    Set(names.flatMap { [$0, $0 + "_ms", $0 + "_pst"] })
}

/// Names inside an object.
func within(_ object: String, _ names: Set<String>) -> Set<String> {
    Set(names.map { object + "." + $0 })
}
