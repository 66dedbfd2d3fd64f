internal import Events

/// What renewal info states about the seats of the next period, and about a bundle.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/renewalquantity
struct RenewalSeats {
    /// How many seats renew; nil if not stated.
    let quantity: Int64?
    /// Their prices by number; empty if not stated.
    let priceTiers: [Seats.PriceTier]
    /// The bundle that the next renewal belongs to; nil if not stated.
    let bundleProductId: String?
    /// Whether the next renewal leaves the bundle.
    let willUnbundle: Bool
    /// The offset of the event that states it.
    let offset: Int64?

    /// What is stated at this very as-of; nil if nothing is.
    init?(_ sweep: Sweep) {
        guard case .value(.text(let text)) = sweep.fresh(.extra) else { return nil }
        let extra = ExtraObject(text)
        quantity = extra.integer(Seats.Word.renewalQuantity)
        priceTiers =
            extra[Seats.Word.info].map {
                Seats.PriceTier.all(in: ExtraObject($0), Seats.Word.renewalPriceTiers)
            } ?? []
        bundleProductId = extra.text(BundleMembership.Word.productId)
        willUnbundle =
            extra[BundleMembership.Word.willUnbundle].flatMap { String($0) } == "true"
        guard quantity != nil || !priceTiers.isEmpty || bundleProductId != nil || willUnbundle
        else { return nil }
        offset = sweep.decider(of: .extra)
    }

    /// The next charge for all seats, with Apple's average price of one; nil if it is not known.
    func total(averagePrice: Int64?) -> Int64? {
        if !priceTiers.isEmpty { return Seats.PriceTier.total(of: priceTiers) }
        guard let quantity, let averagePrice else { return nil }
        let (total, overflow) = averagePrice.multipliedReportingOverflow(by: quantity)
        return overflow ? nil : total
    }
}

extension Purchase {
    /// How many seats its period had at an instant, as stated by then; nil if it is not known.
    func seatQuantity(at instant: Instant) -> Int64? {
        transactions.enumerated().reduce(0 as Int64?) { sum, next in
            let (index, transaction) = next
            let known = transaction.assertions.sorted.first?.asOf ?? transaction.purchaseDate
            if index > 0, min(known, transaction.purchaseDate) > instant { return sum }
            guard let sum, let quantity = transaction.seats?.quantity else { return nil }
            let taken = transaction.seatRefundEvents.last { $0.asOf <= instant }.flatMap { event in
                if case .seats(let quantity) = event.word { quantity } else { nil }
            }
            let (total, overflow) = sum.addingReportingOverflow(
                max(0, max(0, quantity) - max(0, taken ?? 0))
            )
            return overflow ? nil : total
        }
    }
}
