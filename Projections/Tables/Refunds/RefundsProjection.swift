internal import Events

/// The table `refunds`: the rows of `Refunds`.
struct RefundsProjection: DeclaredProjection {
    let name = "refunds"
    let version = 6
    let definition = embeddedFile("refunds.sql")
    let indexes = embeddedFile("refunds-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<RefundCase>
    ) {
        column("product_identifier", row.pointee.productId)
        column("purchase_date_ms", row.pointee.purchaseDate.milliseconds)
        column("expires_date_ms", row.pointee.expiresDate?.milliseconds)
        column("refund_kind", row.pointee.kind?.rawValue)
        column("revocation_percentage", row.pointee.percentageMilli)
        column("revocation_reason", row.pointee.reason)
        column("refund_timing", row.pointee.timing?.rawValue)
        column("requested_at", row.pointee.requested)
        column("declined_at", row.pointee.declined)
        column("revoked_at", row.pointee.revoked)
        column("announced_at", row.pointee.announced)
        column("reversed_at", row.pointee.reversed)
        column("reversal", row.pointee.reversal?.rawValue)
        column("refund_state", row.pointee.state.rawValue)
        column("is_net", row.pointee.isNet)
        column("purchase_price_milliunits", row.pointee.priceMilliunits)
        column("refunded_milliunits", row.pointee.refundedMilliunits)
        column("currency", row.pointee.currency)
        column("request_reason", row.pointee.requestReason)
        column("seat_quantity", row.pointee.seatQuantity)
    }

    // A case is about a purchase; a purchase that is refunded, reversed and refunded again has two.
    var comparison: RowComparison {
        let purchase = [RowComparison.IdentityPart].columns(
            "purchase_date_ms",
            "product_identifier"
        )
        return RowComparison(
            "refund",
            identities: [
                purchase + .columns("revoked_at", "requested_at"),
                purchase + .columns("revoked_at"), purchase + .columns("requested_at"),
                purchase, .columns("purchase_date_ms"),
            ],
            aspects: [
                "refund-state-changed": ["refund_state", "reversal", "is_net"],
                "refund-kind-changed": [
                    "refund_kind", "revocation_reason", "refund_timing", "request_reason",
                ],
                "refund-amount-changed": [
                    "revocation_percentage", "purchase_price_milliunits", "refunded_milliunits",
                    "currency", "seat_quantity",
                ],
                "refund-moved": [
                    "requested_at", "declined_at", "revoked_at", "announced_at", "reversed_at",
                ],
                "product-changed": ["product_identifier"],
            ],
            money: .init(
                amount: "refunded_milliunits",
                currency: "currency",
                isJournal: false,
                isGivenBack: true
            ),
            instant: "purchase_date_ms"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [RefundCase] {
        Refunds(timeline).rows
    }
}

extension RefundCase: CausedRow {}
