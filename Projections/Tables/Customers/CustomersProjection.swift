/// The table `customers`: the owners of a subscription over time, according to its own events.
///
/// A fold of one stream cannot see what joins subscriptions to one another (`CustomerBond`), so
/// that is left to `Customer`.
struct CustomersProjection: Projection {
    let name = "customers"
    let version = 5
    let columns = ["customer", "app_account_token", "valid_from", "valid_to"]

    var tableSQL: String { String(decoding: PackageResources.customers_sql, as: UTF8.self) }

    var indexSQL: String { String(decoding: PackageResources.customers_indexes_sql, as: UTF8.self) }

    // An interval is identified by its start; an unlink or another token changes its end.
    var comparison: RowComparison {
        RowComparison(
            "stretch",
            identities: [
                .columns("valid_from", "customer", "app_account_token"),
                .columns("valid_from"),
            ],
            aspects: [
                .init("owner-changed", "customer", "app_account_token"),
                .init("stretch-moved", "valid_from", "valid_to"),
            ],
            instant: "valid_from"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return StreamClaims(timeline).holdings.map { $0.row(&writer) }
    }
}
