public import Events
internal import Projections

/// A one-time purchase: a consumable, a non-consumable or a non-renewing subscription.
public struct OneTimePurchaseDocument: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// What was bought.
    public let productId: String
    /// Apple's `purchaseDate`.
    public let purchaseDate: Instant
    /// `nonConsumable`, `consumable`, `nonRenewing`, or `unknown` if nothing names the type.
    public let kind: String
    /// Whether it was bought by a family member.
    public let familyShared: Bool
    /// When Apple revoked it; nil if it did not.
    public let revocationDate: Instant?
    /// The events it is based on.
    public let positions: [Position]

    init(_ purchase: OneTimePurchase) {
        originalTransactionId = purchase.stream.originalTransactionId
        productId = purchase.productId
        purchaseDate = purchase.purchaseDate
        kind = purchase.kind.rawValue
        familyShared = purchase.isFamilyShared
        revocationDate = purchase.revocationDate
        positions = purchase.positions
    }

    /// The last purchase of a stream that does not contain a subscription; nil for a subscription.
    init?(insteadOf known: Known) {
        guard known.timeline.purchases.isEmpty,
            let last = OneTimePurchase.all(of: known.timeline).max(by: {
                $0.purchaseDate < $1.purchaseDate
            })
        else { return nil }
        self.init(last)
    }
}

extension OneTimePurchaseDocument {
    /// The type as text.
    package var kindWords: String {
        OneTimePurchase.Kind(rawValue: kind)?.words ?? kind
    }

    /// How Apple revoked it, as text.
    package var revocation: String {
        let word = (familyShared ? NoAccessReason.revoked : .refunded).words
        return word + (revocationDate.map { ", revoked \($0.clock)" } ?? "")
    }
}

extension OneTimePurchaseDocument {
    /// The note about one-time purchases in an answer about a subscription.
    ///
    /// - Parameter what: What was asked for, which such a purchase does not have.
    /// - Returns: A sentence.
    package func sentence(without what: String) -> String {
        let revoked = revocationDate.map { ", revoked \($0.clock)" } ?? ""
        return "\(productId) (\(kindWords)), bought \(purchaseDate.clock)\(revoked), is a one-time "
            + "purchase, which has no \(what); `subledger access \(originalTransactionId)` answers "
            + "whether it gives access"
    }
}
