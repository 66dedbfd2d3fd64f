/// The table `plan_changes`: the rows of `PlanChanges`.
struct PlanChangesProjection: Projection {
    let name = "plan_changes"
    let version = 1
    let columns = [
        "from_product_id", "to_product_id", "requested_ms", "effective_ms", "withdrawn_ms",
        "state", "timing", "class", "same_duration", "catalogue_version", "offer_type",
        "refunds_previous",
    ]

    var tableSQL: String { String(decoding: PackageResources.plan_changes_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.plan_changes_indexes_sql, as: UTF8.self)
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        PlanChanges(timeline, context.catalogues).rows.map {
            ProjectionRow(values: $0.values, positions: $0.positions)
        }
    }
}
