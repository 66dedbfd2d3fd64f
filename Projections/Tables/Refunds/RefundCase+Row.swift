extension RefundCase {
    /// The row as stored in a projection.
    func row(_ writer: inout RowWriter) -> ProjectionRow {
        writer.text(productId)
        writer.milliseconds(purchaseDate)
        writer.milliseconds(expiresDate)
        writer.text(kind?.rawValue)
        writer.integer(percentageMilli)
        writer.integer(reason)
        writer.text(timing?.rawValue)
        writer.timestamp(requested)
        writer.timestamp(declined)
        writer.timestamp(revoked)
        writer.timestamp(announced)
        writer.timestamp(reversed)
        writer.text(reversal?.rawValue)
        writer.text(state.rawValue)
        writer.boolean(isNet)
        writer.integer(priceMilliunits)
        writer.integer(refundedMilliunits)
        writer.text(currency)
        writer.text(requestReason)
        writer.integer(seatQuantity)
        return writer.row(citing: positions)
    }
}
