/// The table `active_periods`: the rows of `ActivePeriods`.
struct ActivePeriodsProjection: Projection {
    let name = "active_periods"
    let version = 5
    let columns = [
        "product_identifier", "purchase_date_ms", "expires_date_ms", "valid_from", "valid_to",
        "kind", "end_reason", "expiration_reason", "billing_plan_type",
        "commitment_period_number", "commitment_period_count", "commitment_expires_at",
        "commitment_price_milliunits", "advanced_commerce_skus", "seat_quantity",
        "bundle_product_identifier",
    ]

    var tableSQL: String { String(decoding: PackageResources.active_periods_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.active_periods_indexes_sql, as: UTF8.self)
    }

    // A row is about one purchase, or about the grace after it. Apple's later statements may change
    // its end, and another fold may take its product or start from another source.
    var comparison: RowComparison {
        let grace = RowComparison.IdentityPart.holds("kind", text: "grace")
        return RowComparison(
            "period",
            identities: [
                .columns("purchase_date_ms", "expires_date_ms", "product_identifier") + [grace],
                .columns("purchase_date_ms", "product_identifier") + [grace],
                .columns("purchase_date_ms") + [grace],
                .columns("expires_date_ms", "product_identifier") + [grace],
            ],
            aspects: [
                .init("period-moved", "valid_from", "valid_to"),
                .init("end-reason-changed", "end_reason"),
                .init("expiration-reason-changed", "expiration_reason"),
                .init(
                    "billing-plan-changed",
                    "billing_plan_type",
                    "commitment_period_number",
                    "commitment_period_count",
                    "commitment_expires_at",
                    "commitment_price_milliunits"
                ),
                .init("items-changed", "advanced_commerce_skus"),
                .init("seats-changed", "seat_quantity"),
                .init("bundle-changed", "bundle_product_identifier"),
                .init("product-changed", "product_identifier"),
                .init("kind-changed", "kind"),
            ],
            access: .init(from: "valid_from", to: "valid_to", grace: grace),
            instant: "valid_from"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return ActivePeriods(timeline.under(context.policy)).rows.map { $0.row(&writer) }
    }
}
