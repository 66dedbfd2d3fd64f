internal import Events

/// The bundle or suite whose purchase or renewal created a transaction.
///
/// The subscriptions in a bundle are also sold alone, those in a suite only together. They may be
/// of several developers, so one app sees only its own part.
///
/// Source: https://developer.apple.com/documentation/storekit/transaction/bundleproductid
public struct BundleMembership: Hashable, Sendable {
    /// The product of the bundle; nil if not stated.
    public let productId: String?
    /// The transaction that bought the bundle; nil if not stated.
    public let transactionId: String?
    /// The bundle's subscription; nil if not stated.
    public let originalTransactionId: String?
    /// The bundle's subscription group; nil if not stated.
    public let subscriptionGroupIdentifier: String?

    /// Apple's members and numbers, which are not confirmed: to change one, change one line here.
    enum Word {
        static let productId = "bundleProductId"
        static let transactionId = "bundleTransactionId"
        static let originalTransactionId = "bundleOriginalTransactionId"
        static let subscriptionGroupIdentifier = "bundleSubscriptionGroupIdentifier"
        static let willUnbundle = "willUnbundle"
        /// The `revocationReason` of a purchase that the customer gave up for a bundle.
        static let upgradedToBundle: Int64 = 2
        /// The `expirationIntent` of a purchase that ended because the customer left the bundle.
        static let unbundled: Int64 = 6
    }

    /// Nil if the properties in `extra` name no bundle.
    init?(_ extra: ExtraObject) {
        productId = extra.text(Word.productId)
        transactionId = extra.text(Word.transactionId)
        originalTransactionId = extra.text(Word.originalTransactionId)
        subscriptionGroupIdentifier = extra.text(Word.subscriptionGroupIdentifier)
        guard productId != nil || transactionId != nil || originalTransactionId != nil else {
            return nil
        }
    }
}

extension Purchase {
    /// The same, without citing.
    var isMovedToBundle: Bool {
        var citations = Citations()
        return isMovedToBundle(citing: &citations)
    }

    /// Whether Apple revoked it because the customer moved to a bundle: a change of plan, not a
    /// refund.
    func isMovedToBundle(citing citations: inout Citations) -> Bool {
        integer(.revocationReason, citing: &citations) == BundleMembership.Word.upgradedToBundle
            && instant(.revocationDate, citing: &citations) != nil
    }
}
