/// Words of which Apple has published the meaning but not yet the spelling (Apple's data: not
/// confirmed): each is here once.
enum UnconfirmedWords {
    /// The type of a notification about the number of seats.
    static let seatNotification = "DID_CHANGE_RENEWAL_PREF"
    /// The type of a notification that a subscription was replaced by a bundle.
    static let bundleNotification = "REVOKE"
    /// `revocationType` of a seat that was taken from its member.
    static let assignmentRevocation = "ASSIGNMENT_REVOKE"
    /// `revocationReason` of a subscription that was replaced by a bundle.
    static let upgradedToBundle: Int64 = 2
    /// The member of released claims that names the subscription.
    static let unclaimedSubscription: StaticString = "originalTransactionId"
    /// The members of transactions and renewal info about a bundle.
    static let bundleProductId: StaticString = "bundleProductId"
    static let bundleTransactionId: StaticString = "bundleTransactionId"
    static let bundleOriginalTransactionId: StaticString = "bundleOriginalTransactionId"
    static let bundleGroup: StaticString = "bundleSubscriptionGroupIdentifier"
    static let willUnbundle: StaticString = "willUnbundle"
}
