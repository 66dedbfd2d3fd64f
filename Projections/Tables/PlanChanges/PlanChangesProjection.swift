/// The table `plan_changes`: the rows of `PlanChanges`.
struct PlanChangesProjection: Projection {
    let name = "plan_changes"
    let version = 6
    let columns = [
        "previous_product_identifier", "product_identifier", "requested_at", "effective_at",
        "withdrawn_at",
        "plan_change_state", "plan_change_timing", "plan_change", "is_same_duration",
        "catalog_version", "apple_offer_type",
        "refunds_previous", "is_undated", "previous_billing_plan_type", "billing_plan_type",
        "estimated_refund_milliunits", "estimated_refund_currency", "previous_seat_quantity",
        "seat_quantity",
    ]

    var tableSQL: String { String(decoding: PackageResources.plan_changes_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.plan_changes_indexes_sql, as: UTF8.self)
    }

    // A change is between two products, requested or effective at an instant.
    var comparison: RowComparison {
        let products = [RowComparison.IdentityPart].columns(
            "previous_product_identifier",
            "product_identifier"
        )
        return RowComparison(
            "plan-change",
            identities: [
                products + .columns("effective_at"), products + .columns("requested_at"),
                .columns("effective_at"), .columns("requested_at"),
            ],
            aspects: [
                .init("plan-change-state-changed", "plan_change_state", "withdrawn_at"),
                .init("plan-change-moved", "requested_at", "effective_at", "plan_change_timing"),
                .init(
                    "plan-change-class-changed",
                    "plan_change",
                    "is_same_duration",
                    "catalog_version"
                ),
                .init("product-changed", "previous_product_identifier", "product_identifier"),
                .init(
                    "estimated-refund-changed",
                    "estimated_refund_milliunits",
                    "estimated_refund_currency"
                ),
                .init("billing-plan-changed", "previous_billing_plan_type", "billing_plan_type"),
                .init("seats-changed", "previous_seat_quantity", "seat_quantity"),
            ],
            instant: "effective_at"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return PlanChanges(timeline, context.catalogs).rows.map { $0.row(&writer) }
    }
}
