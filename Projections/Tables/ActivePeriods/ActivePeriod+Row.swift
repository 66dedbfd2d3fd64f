extension ActivePeriod {
    /// The row as stored in a projection.
    func row(_ writer: inout RowWriter) -> ProjectionRow {
        writer.text(productId)
        writer.milliseconds(purchaseDate)
        writer.milliseconds(expiresDate)
        writer.timestamp(validFrom)
        writer.timestamp(validTo)
        writer.text(kind.rawValue)
        writer.text(endReason.rawValue)
        writer.text(expirationReason?.rawValue)
        writer.text(billingPlanType)
        writer.integer(commitment?.periodNumber)
        writer.integer(commitment?.periodCount)
        writer.timestamp(commitment?.expiresDate)
        writer.integer(commitment?.priceMilliunits)
        writer.texts((advancedCommerceItems ?? []).map(\.sku))
        writer.integer(seatQuantity)
        writer.text(bundleProductId)
        return writer.row(citing: positions)
    }

    /// The values of that row, up to why access ended.
    package var values: [ColumnValue] {
        var writer = RowWriter()
        return Array(row(&writer).values.prefix(ActivePeriod.accessColumns))
    }

    private static let accessColumns = 7
}
