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
        writer.text(billingPlan?.type)
        writer.integer(billingPlan?.commitment?.periodNumber)
        writer.integer(billingPlan?.commitment?.periodCount)
        writer.timestamp(billingPlan?.commitment?.expiresDate)
        writer.integer(billingPlan?.commitment?.priceMilliunits)
        writer.texts(items.map(\.sku))
        writer.integer(seatQuantity)
        writer.text(bundle?.productId)
        return writer.row(citing: positions)
    }

    /// The values of that row, up to why access ended.
    package var values: [ColumnValue] {
        var writer = RowWriter()
        return Array(row(&writer).values.prefix(ActivePeriod.accessColumns))
    }

    private static let accessColumns = 7
}
