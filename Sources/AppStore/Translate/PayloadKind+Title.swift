import Events

extension PayloadKind {
    /// The kind in words, with its article.
    var title: String {
        switch self {
        case .signedTransaction: "a signed transaction"
        case .signedRenewalInfo: "signed renewal info"
        case .signedNotification: "a notification"
        case .subscriptionStatus: "a subscription's status"
        case .appReceipt: "an app receipt"
        case .verifyReceiptResponse: "a verifyReceipt response"
        case .statusUpdateNotification: "a version 1 notification"
        case .decodedTransaction: "a decoded transaction"
        case .decodedRenewalInfo: "decoded renewal info"
        case .customerLink: "a customer link"
        case .catalogVersion: "a version of the catalog"
        case .erasureStatement: "a statement of an erasure"
        }
    }
}
