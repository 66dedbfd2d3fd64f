/// The table `refunds`: the rows of `Refunds`.
struct RefundsProjection: Projection {
    let name = "refunds"
    let version = 6
    let columns = [
        "product_identifier", "purchase_date_ms", "expires_date_ms", "refund_kind",
        "revocation_percentage", "revocation_reason",
        "refund_timing", "requested_at", "declined_at", "revoked_at", "announced_at", "reversed_at",
        "reversal", "refund_state", "is_net", "purchase_price_milliunits", "refunded_milliunits",
        "currency",
        "request_reason", "seat_quantity",
    ]

    var tableSQL: String { String(decoding: PackageResources.refunds_sql, as: UTF8.self) }

    var indexSQL: String { String(decoding: PackageResources.refunds_indexes_sql, as: UTF8.self) }

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
                .init("refund-state-changed", "refund_state", "reversal", "is_net"),
                .init(
                    "refund-kind-changed",
                    "refund_kind",
                    "revocation_reason",
                    "refund_timing",
                    "request_reason"
                ),
                .init(
                    "refund-amount-changed",
                    "revocation_percentage",
                    "purchase_price_milliunits",
                    "refunded_milliunits",
                    "currency",
                    "seat_quantity"
                ),
                .init(
                    "refund-moved",
                    "requested_at",
                    "declined_at",
                    "revoked_at",
                    "announced_at",
                    "reversed_at"
                ),
                .init("product-changed", "product_identifier"),
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

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return Refunds(timeline).rows.map { $0.row(&writer) }
    }
}
