import Events

/// The terms of a purchase; a class, because several movements of a purchase share them.
final class PurchaseTerms {
    /// Apple's `offerType`; nil at the standard price.
    let offerType: Int64?
    let offerIdentifier: String
    /// For all seats, in milliunits; 0 where another party pays, nil if it was never stated.
    let price: Int64?
    let currency: String?
    /// Who else pays; nil if the owner does.
    let sharing: Sharing?
    /// Whether it is a free offer.
    let isFree: Bool
    /// The events that state them.
    let citations: Citations

    init(_ purchase: Purchase) {
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        offerType = purchase.integer(.offerType, citing: &citations)
        offerIdentifier = purchase.text(.offerIdentifier, citing: &citations) ?? ""
        let price = purchase.amount(citing: &citations)
        currency = purchase.text(.currency, citing: &citations)
        sharing = purchase.sharing(citing: &citations)
        self.price = sharing == nil ? price : 0
        isFree = purchase.isFreeTrial(citing: &citations)
        self.citations = citations
    }

    var hasOffer: Bool { offerType != nil }

    func isSameOffer(as other: PurchaseTerms) -> Bool {
        hasOffer && offerType == other.offerType
            && byBytes(offerIdentifier, other.offerIdentifier) == nil
    }
}
