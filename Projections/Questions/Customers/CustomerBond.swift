public import Events

/// Something that two subscriptions of one customer have in common.
///
/// A bond is what Apple said, and joins subscriptions that no link gives to anybody; a link to
/// somebody else wins for its subscription while it holds (`CustomerParties`). Members of a family
/// share none of them: each has transactions, receipts and an `appTransactionId` of their own
/// (developer.apple.com/documentation/storekit/supporting-family-sharing-in-your-app).
public enum CustomerBond: Sendable {
    /// An app account token, which the app gave Apple with a purchase of both.
    case appAccountToken(String)
    /// One `appTransactionId` in one app, which Apple makes once for each Apple Account that
    /// downloads the app, and for each member of a family
    /// (developer.apple.com/documentation/storekit/apptransaction/apptransactionid).
    case appTransactionId(String, bundleId: String)
    /// One app receipt, verifyReceipt response or version 1 notification, by its SHA-256: Apple
    /// makes a receipt for the customer whose device or whose purchase asks for it, also for a
    /// member of a family
    /// (developer.apple.com/documentation/appstorereceipts/in_app_ownership_type).
    case appReceipt(Digest)
    /// A transaction id, under which a purchase of both was seen.
    case transactionId(String)
    /// A `webOrderLineItemId` of a purchase of both.
    case webOrderLineItemId(String)
    /// That one continues the other, or both the same: the `previousOriginalTransactionId` of one,
    /// which Apple names after a migration to the Advanced Commerce API
    /// (developer.apple.com/documentation/appstoreservernotifications/previousoriginaltransactionid).
    case previousOriginalTransactionId(String)

    /// What is shared, under Apple's name where it has one; printed, so added and never renamed.
    public var kind: String {
        switch self {
        case .appAccountToken: "appAccountToken"
        case .appTransactionId: "appTransactionId"
        case .appReceipt: "appReceipt"
        case .transactionId: "transactionId"
        case .webOrderLineItemId: "webOrderLineItemId"
        case .previousOriginalTransactionId: "previousOriginalTransactionId"
        }
    }

    /// The shared value: an id, a token, or a SHA-256 in hexadecimal.
    public var value: String {
        switch self {
        case .appAccountToken(let text), .appTransactionId(let text, _), .transactionId(let text),
            .webOrderLineItemId(let text), .previousOriginalTransactionId(let text):
            text
        case .appReceipt(let digest): digest.hex
        }
    }

    // The strongest words about a person first: a bond that is named is the first of those there
    // are.
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
    /// Equal when of one kind, value and app; values by their bytes, tokens as UUIDs.
    public static func == (left: CustomerBond, right: CustomerBond) -> Bool {
        left.rank == right.rank && byBytes(left.comparedValue, right.comparedValue) == nil
            && byBytes(left.scope, right.scope) == nil
    }

    /// By kind, then by the bytes of the value and of the app's bundle id.
    public static func < (left: CustomerBond, right: CustomerBond) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        return byBytes(left.comparedValue, right.comparedValue)
            ?? byBytes(left.scope, right.scope) ?? false
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        hasher.combine(FieldValue.text(comparedValue))
    }
}

extension CustomerStream {
    /// What may join it to other subscriptions.
    ///
    /// Of a subscription whose customer was erased nothing does but a token that came later: what
    /// Apple still says of it, under ids that stay, brings nobody back. A consumable is joined to
    /// its account by no receipt and no `appTransactionId`: it gives no access, and a person may
    /// have bought more of them than an answer takes.
    public var bonds: [CustomerBond] {
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
