/// The table `refunds`: the rows of `Refunds`.
struct RefundsProjection: Projection {
    let name = "refunds"
    let version = 1
    let columns = [
        "product_id", "purchase_date_ms", "expires_date_ms", "kind", "percentage_milli", "reason",
        "timing", "requested_ms", "declined_ms", "revoked_ms", "announced_ms", "reversed_ms",
        "reversal", "state", "is_net", "price_milliunits", "refunded_milliunits", "currency",
    ]

    var tableSQL: String { String(decoding: PackageResources.refunds_sql, as: UTF8.self) }

    var indexSQL: String { String(decoding: PackageResources.refunds_indexes_sql, as: UTF8.self) }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        Refunds(timeline).rows.map { ProjectionRow(values: $0.values, positions: $0.positions) }
    }
}
