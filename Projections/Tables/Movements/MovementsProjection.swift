/// The table `movements`: the rows of `Movements`.
struct MovementsProjection: Projection {
    let name = "movements"
    let version = 1
    let columns = [
        "movement", "apple_event", "occurred_ms", "product_id", "previous_product_id",
        "purchase_date_ms", "expires_date_ms", "amount_milliunits", "currency",
        "is_family_shared", "is_resubscribe", "expiration_reason",
    ]

    var tableSQL: String { String(decoding: PackageResources.movements_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.movements_indexes_sql, as: UTF8.self)
    }

    // A movement is known by its word, its purchase and its instant.
    var comparison: RowComparison {
        RowComparison(
            "movement",
            identities: [
                .columns("movement", "purchase_date_ms", "occurred_ms", "product_id"),
                .columns("movement", "purchase_date_ms", "occurred_ms"),
                .columns("movement", "purchase_date_ms"),
                .columns("purchase_date_ms", "occurred_ms", "product_id"),
            ],
            aspects: [
                .init("movement-moved", "occurred_ms"),
                .init("movement-kind-changed", "movement", "apple_event"),
                .init("expiration-reason-changed", "expiration_reason"),
                .init("amount-changed", "amount_milliunits", "currency"),
                .init("product-changed", "product_id", "previous_product_id"),
            ],
            money: .init(
                amount: "amount_milliunits",
                currency: "currency",
                isJournal: true
            ),
            instant: "occurred_ms"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return Movements(timeline, context.catalogs).rows.map { $0.row(&writer) }
    }
}
