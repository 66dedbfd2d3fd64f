import Events
import Projections

extension OneTimePurchase {
    /// What to say of a stream that holds one-time purchases and no subscription; nil of others.
    ///
    /// - Parameters:
    ///   - timeline: The stream.
    ///   - what: What was asked for, which such a purchase does not have.
    /// - Returns: A sentence for people; nil where there is a subscription, or nothing.
    static func sentence(of timeline: Timeline, without what: String) -> String? {
        let purchases = all(of: timeline)
        guard let last = purchases.max(by: { $0.purchaseDate < $1.purchaseDate }),
            timeline.purchases.isEmpty
        else { return nil }
        let revoked = last.revocationDate.map { ", revoked \($0.clock)" } ?? ""
        let id = last.stream.originalTransactionId
        return
            "\(last.productId) (\(last.kind.words)), bought \(last.purchaseDate.clock)\(revoked), "
            + "is a one-time purchase, which has no \(what); `subledger access \(id)` answers "
            + "whether it gives access"
    }
}
