/// The table `active_periods`: the rows of `ActivePeriods`.
struct ActivePeriodsProjection: Projection {
    let name = "active_periods"
    let version = 1
    let columns = [
        "product_id", "purchase_date_ms", "expires_date_ms", "valid_from_ms", "valid_to_ms",
        "kind", "end_reason", "expiration_reason", "billing_plan_type",
        "commitment_period_number", "commitment_period_count", "commitment_expires_ms",
        "commitment_price_milliunits", "advanced_commerce_skus",
    ]

    var tableSQL: String { String(decoding: PackageResources.active_periods_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.active_periods_indexes_sql, as: UTF8.self)
    }

    // A row is of one purchase, or of the grace after it. What Apple says later may move its end,
    // and a fold may take its product or start from elsewhere.
    var comparison: RowComparison {
        let grace = RowComparison.IdentityPart.holds("kind", text: "grace")
        return RowComparison(
            "period",
            identities: [
                .columns("purchase_date_ms", "expires_date_ms", "product_id") + [grace],
                .columns("purchase_date_ms", "product_id") + [grace],
                .columns("purchase_date_ms") + [grace],
                .columns("expires_date_ms", "product_id") + [grace],
            ],
            aspects: [
                .init("period-moved", "valid_from_ms", "valid_to_ms"),
                .init("end-reason-changed", "end_reason"),
                .init("expiration-reason-changed", "expiration_reason"),
                .init(
                    "billing-plan-changed",
                    "billing_plan_type",
                    "commitment_period_number",
                    "commitment_period_count",
                    "commitment_expires_ms",
                    "commitment_price_milliunits"
                ),
                .init("items-changed", "advanced_commerce_skus"),
                .init("product-changed", "product_id"),
                .init("kind-changed", "kind"),
            ],
            access: .init(from: "valid_from_ms", to: "valid_to_ms", grace: grace),
            instant: "valid_from_ms"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return ActivePeriods(timeline.under(context.policy)).rows.map { $0.row(&writer) }
    }
}
