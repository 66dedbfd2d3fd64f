/// The table `active_periods`: the rows of `ActivePeriods`.
struct ActivePeriodsProjection: Projection {
    let name = "active_periods"
    let version = 1
    let columns = [
        "product_id", "purchase_date_ms", "expires_date_ms", "valid_from_ms", "valid_to_ms",
        "kind", "end_reason",
    ]

    var tableSQL: String { String(decoding: PackageResources.active_periods_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.active_periods_indexes_sql, as: UTF8.self)
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        ActivePeriods(timeline).rows.map {
            ProjectionRow(values: $0.values, positions: $0.positions)
        }
    }
}
