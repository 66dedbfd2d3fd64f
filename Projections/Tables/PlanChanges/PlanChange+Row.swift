extension PlanChange {
    /// The row as stored in a projection.
    func row(_ writer: inout RowWriter) -> ProjectionRow {
        writer.text(fromProductId)
        writer.text(toProductId)
        writer.timestamp(requested)
        writer.timestamp(effective)
        writer.timestamp(withdrawn)
        writer.text(state.rawValue)
        writer.text(timing.rawValue)
        writer.text(changeClass.rawValue)
        writer.boolean(hasSameDuration)
        writer.int32(catalogVersion)
        writer.integer(offerType)
        writer.boolean(refundsPrevious)
        writer.boolean(isUndated)
        writer.text(fromBillingPlanType)
        writer.text(toBillingPlanType)
        writer.integer(estimatedRefundMilliunits)
        writer.text(estimatedRefundCurrency)
        writer.integer(fromSeatQuantity)
        writer.integer(toSeatQuantity)
        return writer.row(citing: positions)
    }
}
