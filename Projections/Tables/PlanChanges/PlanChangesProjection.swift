/// The table `plan_changes`: the rows of `PlanChanges`.
struct PlanChangesProjection: Projection {
    let name = "plan_changes"
    let version = 2
    let columns = [
        "from_product_id", "to_product_id", "requested_ms", "effective_ms", "withdrawn_ms",
        "state", "timing", "class", "same_duration", "catalog_version", "offer_type",
        "refunds_previous", "is_undated", "from_billing_plan_type", "to_billing_plan_type",
        "estimated_refund_milliunits", "estimated_refund_currency",
    ]

    var tableSQL: String { String(decoding: PackageResources.plan_changes_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.plan_changes_indexes_sql, as: UTF8.self)
    }

    // A change is between two products, wished for or effective at an instant.
    var comparison: RowComparison {
        let products = [RowComparison.IdentityPart].columns("from_product_id", "to_product_id")
        return RowComparison(
            "plan-change",
            identities: [
                products + .columns("effective_ms"), products + .columns("requested_ms"),
                .columns("effective_ms"), .columns("requested_ms"),
            ],
            aspects: [
                .init("plan-change-state-changed", "state", "withdrawn_ms"),
                .init("plan-change-moved", "requested_ms", "effective_ms", "timing"),
                .init(
                    "plan-change-class-changed",
                    "class",
                    "same_duration",
                    "catalog_version"
                ),
                .init("product-changed", "from_product_id", "to_product_id"),
                .init(
                    "estimated-refund-changed",
                    "estimated_refund_milliunits",
                    "estimated_refund_currency"
                ),
                .init("billing-plan-changed", "from_billing_plan_type", "to_billing_plan_type"),
            ],
            instant: "effective_ms"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return PlanChanges(timeline, context.catalogs).rows.map { $0.row(&writer) }
    }
}
