package import Events

/// A purchase that does not renew and has no end of its own: a consumable, a non-consumable or a
/// non-renewing subscription.
///
/// Only a non-consumable gives access: it is owned from its purchase until Apple revokes it
/// (developer.apple.com/documentation/storekit/transaction/currententitlements). Whether the goods
/// of a consumable are used up, and how long a non-renewing subscription lasts, only the app knows
/// (Apple's data: trap 35); they are not judged, except that a revoked purchase gives nothing.
package struct OneTimePurchase: Hashable, Sendable {
    /// Apple's original transaction id and its environment.
    package let stream: StreamID
    /// The product; empty if no format stated it.
    package let productId: String
    /// When it was bought, in whole seconds; for a restored purchase, the first date.
    package let purchaseDate: Instant
    /// The kind of product.
    package let kind: Kind
    /// Who else bought it; nil if the owner did (Apple's data: trap 33).
    package let sharing: Sharing?
    /// When Apple revoked it, as last stated; nil if it is not revoked.
    package let revocationDate: Instant?
    /// The times at which it is owned, ascending; empty if the kind is not judged.
    package let owned: [Range<Instant>]
    /// The events that decide this, ascending, without duplicates.
    package let positions: [Position]

    /// The kind of product; the raw value is the word for JSON.
    package enum Kind: String, CaseIterable, Sendable {
        /// Bought once and owned from then on.
        case nonConsumable
        /// Used up by the app.
        case consumable
        /// Lasts as long as the app decides.
        case nonRenewing
        /// Neither Apple's `type` nor the catalog names the kind, as in a receipt.
        case unknown

        fileprivate init(type: String) {
            switch type {
            case "Non-Consumable": self = .nonConsumable
            case "Consumable": self = .consumable
            case "Non-Renewing Subscription": self = .nonRenewing
            default: self = .unknown
            }
        }
    }

    /// Whether another family member bought it.
    package var isFamilyShared: Bool { sharing == .family }

    /// Whether the ledger can decide its access.
    package var isJudged: Bool { kind == .nonConsumable }

    /// Whether Apple had revoked it by an instant; a revoked purchase gives nothing any more,
    /// whatever its type (developer.apple.com/documentation/appstoreserverapi/revocationdate).
    package func isRevoked(at instant: Instant) -> Bool {
        revocationDate.map { $0 <= instant } ?? false
    }

    /// Whether it is owned at an instant.
    package func isOwned(at instant: Instant) -> Bool { owned.contains { $0.contains(instant) } }

    /// The one-time purchases of a timeline, by date.
    package static func all(
        of timeline: Timeline,
        _ catalogs: CatalogHistory = .none
    ) -> [OneTimePurchase] {
        timeline.oneTimePurchases.map { OneTimePurchase($0, of: timeline, catalogs) }
    }

    private init(_ purchase: Purchase, of timeline: Timeline, _ catalogs: CatalogHistory) {
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        var kind = Kind(type: purchase.text(.type, citing: &citations) ?? "")
        if kind == .unknown,
            case .other(let product) = catalogs.product(
                purchase.productId,
                at: purchase.purchaseDate
            )
        {
            kind = Kind(type: product.type)
        }
        stream = timeline.stream
        productId = purchase.productId
        purchaseDate = purchase.purchaseDate
        self.kind = kind
        sharing = purchase.sharing
        revocationDate = purchase.instant(.revocationDate, citing: &citations)
        owned = kind == .nonConsumable ? purchase.ownedTimes(under: timeline.policy) : []
        positions = citations.positions(lane: timeline.lane)
    }

    // By date, then by everything that distinguishes two of them, so the order of arrival has no
    // effect.
    static func areInOrder(_ left: OneTimePurchase, _ right: OneTimePurchase) -> Bool {
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        if left.stream != right.stream { return left.stream < right.stream }
        return byBytes(left.productId, right.productId) ?? false
    }
}

extension Purchase {
    fileprivate func ownedTimes(under policy: AccessPolicy) -> [Range<Instant>] {
        guard policy.familyCounts || !isFamilyShared else { return [] }
        var end = Instant(milliseconds: .max)
        if case .value(.instant(let date)) = state(of: .revocationDate) {
            guard !policy.refundIsRetroactive || sharing != nil else { return [] }
            end = max(date, purchaseDate)
        }
        let gaps =
            policy.reversalIsRetroactive
            ? [] : suspensions.lookingBack(policy.refundIsRetroactive)
        return [purchaseDate..<end].subtracting(gaps.map { $0.from..<$0.to }).filter { !$0.isEmpty }
    }
}
