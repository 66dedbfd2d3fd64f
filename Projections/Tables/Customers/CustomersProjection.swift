internal import Events

/// The table `customers`: the owners of a subscription over time, according to its own events.
///
/// A fold of one stream cannot see what joins subscriptions to one another (`CustomerBond`), so
/// that is left to `Customer`.
struct CustomersProjection: DeclaredProjection {
    let name = "customers"
    let version = 5
    let definition = embeddedFile("customers.sql")
    let indexes = embeddedFile("customers-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<CustomerHolding>
    ) {
        column("customer", row.pointee.customer)
        column("app_account_token", row.pointee.appAccountToken)
        column("valid_from", row.pointee.from)
        column("valid_to", row.pointee.to)
    }

    // An interval is identified by its start; an unlink or another token changes its end.
    var comparison: RowComparison {
        RowComparison(
            "stretch",
            identities: [
                .columns("valid_from", "customer", "app_account_token"),
                .columns("valid_from"),
            ],
            aspects: [
                "owner-changed": ["customer", "app_account_token"],
                "stretch-moved": ["valid_from", "valid_to"],
            ],
            instant: "valid_from"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [CustomerHolding] {
        StreamClaims(timeline).holdings
    }
}

extension CustomerHolding: CausedRow {}
