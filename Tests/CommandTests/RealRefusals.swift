/// The real payloads that are refused even if vouched for, by reason: those that the folder's
/// README calls tampered, foreign, unsigned models, or not payloads at all.
enum RealRefusals {
    static let reasons: [String: String] = {
        var reasons: [String: String] = [:]
        for (reason, paths) in paths {
            for path in paths { reasons[path] = reason }
        }
        return reasons
    }()

    private static let apple = "apple__app-store-server-library-swift/"
    private static let emindeniz = "emindeniz99__apple-purchase-receipt-verifier/generated/"
    private static let getmimo = "getmimo__app-store-server-library-dotnet/"
    private static let crashoverride = "crashoverride777__swifty-receipt-validator/"

    private static let paths: [String: [String]] = [
        "app-transaction": [
            apple + "models/appTransactionInfoResponse.json"
        ],
        "chain-untrusted": [
            apple + "mock_signed_data/renewalInfo",
            apple + "mock_signed_data/testNotification",
            apple + "mock_signed_data/transactionInfo",
            apple + "mock_signed_data/wrongBundleId",
            emindeniz + "app-transaction-production.jws",
            emindeniz + "app-transaction.jws",
            emindeniz + "receipt-type-production.der",
            emindeniz + "receipt.der",
            emindeniz + "transaction.jws",
            getmimo + "InvalidSignature_Fails.jws",
        ],
        "environment-unknown": [
            "nomad__venice/receipt_expired_cancelled.json"
        ]
            + (1...6).map { "voltrue2__in-app-purchase/latest_receipt_info-6.json#\($0)" }
            + [11, 12, 14, 15].map { "expected.json#\($0)" },
        // Decoded data from a test of another program.
        "environment-not-accepted": [
            apple + "models/signedRenewalInfo.json", apple + "models/signedTransaction.json",
            "expected.json#16", "expected.json#17",
        ],
        "ios6-receipt": [
            "IdeasOnCanvas__AppReceiptValidator/deprecatedSinglesTypeExpiredAppleCert_receipt.b64",
            apple + "mock_signed_data/legacyTransaction",
        ],
        "json-malformed": [
            crashoverride + "ReceiptResponseInvalidFormat.json"
        ],
        "jws-malformed": [
            apple + "models/getAllSubscriptionStatusesResponse.json",
            apple + "models/getNotificationHistoryResponse.json",
            apple + "models/getRefundHistoryResponse.json",
            apple + "models/lookupOrderIdResponse.json",
            apple + "models/transactionHistoryResponse.json",
            apple + "models/transactionInfoResponse.json",
            getmimo + "JWSIsMissingAPart_Fails.jws",
        ],
        "receipt-status-environment": [
            crashoverride + "ReceiptResponseSandbox.json"
        ],
        "receipt-status-retry": [
            "aporat__store-receipt-validator/inAppPurchaseInvalidReceiptResponse.json"
        ],
        "signature-invalid": [
            "alexalok__AppStoreServerNotificationsV2/v2-tampered-Sandbox_Resubscription.json"
        ],
        "unsupported-format": [
            "imdhemy__laravel-in-app-purchases/x5c-chain.json#1",
            "imdhemy__laravel-in-app-purchases/x5c-chain.json#2",
            "imdhemy__laravel-in-app-purchases/x5c-chain.json#3",
            "IdeasOnCanvas__AppReceiptValidator/not_a_receipt",
            apple + "models/appTransaction.json",
            apple + "models/appTransactionDoesNotExistError.json",
            apple + "models/decodedRealtimeRequest.json",
            apple + "models/extendRenewalDateForAllActiveSubscribersResponse.json",
            apple + "models/extendSubscriptionRenewalDateResponse.json",
            apple + "models/getStatusOfSubscriptionRenewalDateExtensionsResponse.json",
            apple + "models/signedConsumptionRequestNotification.json",
            apple + "models/signedNotification.json",
            emindeniz + "device-guid.hex",
            "facts.json",
        ],
        "x5c-missing": [
            apple + "mock_signed_data/missingX5CHeaderClaim",
            getmimo + "Nox5cParameter_Fails.jws",
        ],
        "xcode-signed": [
            apple + "xcode/xcode-app-receipt-empty",
            apple + "xcode/xcode-app-receipt-with-transaction",
            apple + "xcode/xcode-signed-app-transaction",
            apple + "xcode/xcode-signed-renewal-info",
            apple + "xcode/xcode-signed-transaction",
            "tikhop__TPInAppReceipt/receipt-xcode",
        ],
    ]
}
