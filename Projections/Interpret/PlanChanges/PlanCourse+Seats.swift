internal import Events

extension PlanCourse {
    /// One row for each addition of seats to a period: it takes effect at once, and replaces nothing.
    func seatChanges(in index: Int) -> [PlanChange] {
        let purchase = timeline.purchases[index]
        var rows: [PlanChange] = []
        var seats = purchase.seats?.quantity
        for addition in purchase.additions {
            let more = seats.flatMap { before in
                addition.seats?.quantity.flatMap { added -> Int64? in
                    let (sum, overflow) = before.addingReportingOverflow(added)
                    return overflow ? nil : sum
                }
            }
            guard let before = seats, let more, before != more else { return rows }

            var citations = Citations()
            citations.cite(purchase.datesOffset)
            citations.cite(addition.datesOffset)
            rows.append(
                PlanChange(
                    stream: timeline.stream,
                    fromProductId: purchase.productId,
                    toProductId: purchase.productId,
                    fromBillingPlanType: nil,
                    toBillingPlanType: nil,
                    fromSeatQuantity: before,
                    toSeatQuantity: more,
                    requested: nil,
                    effective: addition.purchaseDate,
                    withdrawn: nil,
                    state: .effective,
                    timing: .now,
                    changeClass: .planChange,
                    hasSameDuration: nil,
                    catalogVersion: nil,
                    offerType: nil,
                    refundsPrevious: false,
                    isUndated: false,
                    estimatedRefundMilliunits: nil,
                    estimatedRefundCurrency: nil,
                    positions: citations.positions(lane: timeline.lane)
                )
            )
            seats = more
        }
        return rows
    }
}
