package import Events

/// Something that two subscriptions of one customer have in common.
///
/// A bond comes from Apple's statements, and joins subscriptions that no link assigns; a link to
/// another customer takes precedence for its subscription while it is in force (`CustomerParties`).
/// Family members share none of them: each has transactions, receipts and an `appTransactionId` of
/// their own (developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app).
package enum CustomerBond: Sendable {
    /// An app account token, which the app passed to Apple with a purchase of both.
    case appAccountToken(String)
    /// One `appTransactionId` in one app, which Apple creates once for each Apple Account that
    /// downloads the app, and for each family member
    /// (developer.apple.com/documentation/storekit/apptransaction/apptransactionid).
    case appTransactionId(String, bundleId: String)
    /// One app receipt, verifyReceipt response or version 1 notification, by its SHA-256: Apple
    /// creates a receipt for the customer whose device or whose purchase asks for it, also for a
    /// family member (developer.apple.com/documentation/appstorereceipts/in_app_ownership_type).
    case appReceipt(Digest)
    /// A transaction id, under which a purchase of both was seen.
    case transactionId(String)
    /// A `webOrderLineItemId` of a purchase of both.
    case webOrderLineItemId(String)
    /// One subscription continues the other, or both continue the same one: the
    /// `previousOriginalTransactionId` of one, which Apple names after a migration to the Advanced
    /// Commerce API
    /// (developer.apple.com/documentation/appstoreservernotifications/previousoriginaltransactionid).
    case previousOriginalTransactionId(String)

    /// What is shared, under Apple's name if it has one; it is printed, so kinds may be added but
    /// never renamed.
    package var kind: String {
        switch self {
        case .appAccountToken: CustomerBond.tokenKind
        case .appTransactionId: "appTransactionId"
        case .appReceipt: "appReceipt"
        case .transactionId: "transactionId"
        case .webOrderLineItemId: "webOrderLineItemId"
        case .previousOriginalTransactionId: "previousOriginalTransactionId"
        }
    }

    /// The kind of a shared token.
    static let tokenKind = "appAccountToken"

    /// The shared value: an id, a token, or a SHA-256 in hexadecimal.
    package var value: String {
        switch self {
        case .appAccountToken(let text), .appTransactionId(let text, _), .transactionId(let text),
            .webOrderLineItemId(let text), .previousOriginalTransactionId(let text):
            text
        case .appReceipt(let digest): digest.hex
        }
    }

    // The strongest evidence about a person first, because an answer names the first bond there is.
    private var rank: Int {
        switch self {
        case .appAccountToken: 0
        case .appTransactionId: 1
        case .previousOriginalTransactionId: 2
        case .transactionId: 3
        case .webOrderLineItemId: 4
        case .appReceipt: 5
        }
    }

    private var scope: String {
        if case .appTransactionId(_, let bundleId) = self { bundleId } else { "" }
    }

    private var comparedValue: String {
        if case .appAccountToken(let token) = self { TokenValue(token).text } else { value }
    }
}

extension CustomerBond: Comparable, Hashable {
    /// Equal if kind, value and app are equal; values by their bytes, tokens as UUIDs.
    package static func == (left: CustomerBond, right: CustomerBond) -> Bool {
        left.rank == right.rank && byBytes(left.comparedValue, right.comparedValue) == nil
            && byBytes(left.scope, right.scope) == nil
    }

    /// By kind, then by the bytes of the value and of the app's bundle id.
    package static func < (left: CustomerBond, right: CustomerBond) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        return byBytes(left.comparedValue, right.comparedValue)
            ?? byBytes(left.scope, right.scope) ?? false
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        hasher.combine(FieldValue.text(comparedValue))
    }
}

extension CustomerStream {
    /// The bonds that may join it to other subscriptions.
    ///
    /// A subscription whose customer was erased is joined only by a token that came later: Apple's
    /// other statements, under ids that remain, must not restore the connection. A consumable is
    /// joined to its account by no receipt and no `appTransactionId`: it gives no access, and a
    /// person may have bought more of them than an answer accepts.
    package var bonds: [CustomerBond] {
        let tokens = TokenValue.unique(tokens).map { CustomerBond.appAccountToken($0) }
        guard !isCustomerErased else { return tokens }
        let account: [CustomerBond] =
            isConsumable
            ? []
            : appTransactions.map { .appTransactionId($0.id, bundleId: $0.bundleId) }
                + receipts.map { .appReceipt($0) }
        let continued = [stream.originalTransactionId] + previousOriginalTransactionIds
        return tokens + account
            + transactionIds.map { .transactionId($0) }
            + webOrderLineItemIds.map { .webOrderLineItemId($0) }
            + continued.map { .previousOriginalTransactionId($0) }
    }
}
