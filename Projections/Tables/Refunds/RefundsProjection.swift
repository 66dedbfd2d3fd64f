/// The table `refunds`: the rows of `Refunds`.
struct RefundsProjection: Projection {
    let name = "refunds"
    let version = 1
    let columns = [
        "product_id", "purchase_date_ms", "expires_date_ms", "kind", "percentage_milli", "reason",
        "timing", "requested_ms", "declined_ms", "revoked_ms", "announced_ms", "reversed_ms",
        "reversal", "state", "is_net", "price_milliunits", "refunded_milliunits", "currency",
        "request_reason",
    ]

    var tableSQL: String { String(decoding: PackageResources.refunds_sql, as: UTF8.self) }

    var indexSQL: String { String(decoding: PackageResources.refunds_indexes_sql, as: UTF8.self) }

    // A case is about a purchase; a purchase that is refunded, reversed and refunded again has two.
    var comparison: RowComparison {
        let purchase = [RowComparison.IdentityPart].columns("purchase_date_ms", "product_id")
        return RowComparison(
            "refund",
            identities: [
                purchase + .columns("revoked_ms", "requested_ms"),
                purchase + .columns("revoked_ms"), purchase + .columns("requested_ms"),
                purchase, .columns("purchase_date_ms"),
            ],
            aspects: [
                .init("refund-state-changed", "state", "reversal", "is_net"),
                .init("refund-kind-changed", "kind", "reason", "timing", "request_reason"),
                .init(
                    "refund-amount-changed",
                    "percentage_milli",
                    "price_milliunits",
                    "refunded_milliunits",
                    "currency"
                ),
                .init(
                    "refund-moved",
                    "requested_ms",
                    "declined_ms",
                    "revoked_ms",
                    "announced_ms",
                    "reversed_ms"
                ),
                .init("product-changed", "product_id"),
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
