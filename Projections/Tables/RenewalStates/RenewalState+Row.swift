extension RenewalState {
    /// The row as stored in a projection.
    func row(_ writer: inout RowWriter) -> ProjectionRow {
        writer.timestamp(validFrom)
        writer.timestamp(validTo)
        writer.text(status.description)
        writer.text(charge.rawValue)
        writer.boolean(isAutoRenewOn)
        writer.text(autoRenewProductId)
        writer.text(priceConsent?.rawValue)
        writer.text(expirationReason?.rawValue)
        writer.integer(terms?.priceMilliunits)
        writer.text(terms?.currency)
        writer.integer(terms?.offer?.type)
        writer.text(terms?.offer?.identifier)
        writer.text(terms?.offer?.discountType)
        writer.text(terms?.offer?.period)
        writer.text(terms?.billingPlanType)
        writer.timestamp(terms?.commitment?.renewalDate)
        writer.integer(terms?.commitment?.priceMilliunits)
        writer.boolean(terms?.commitment?.isAutoRenewOn)
        writer.text(terms?.commitment?.autoRenewProductId)
        writer.text(terms?.commitment?.billingPlanType)
        return writer.row(citing: positions)
    }
}
