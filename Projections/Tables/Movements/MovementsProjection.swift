/// The table `movements`: the rows of `Movements`.
struct MovementsProjection: Projection {
    let name = "movements"
    let version = 7
    let columns = [
        "movement", "apple_event", "apple_event_grouping",
        "apple_event_sub_type", "rc_event", "occurred_at", "product_identifier",
        "previous_product_identifier",
        "purchase_date_ms", "expires_date_ms", "amount_milliunits", "currency",
        "is_family_shared", "is_resubscribe", "expiration_reason",
        "is_shared", "seat_quantity",
    ]

    var tableSQL: String {
        MovementsProjection.tableSQL(
            name,
            comment: """
                What began, continued, was paid, was refunded and ended: one row each, at the time \
                it occurred. In the order of occurred_at, then movement. A fold of the log; rebuild \
                it, never edit it.
                """
        )
    }

    /// DDL of a table with these columns, followed by additional ones, that allows additional
    /// words.
    static func tableSQL(
        _ name: String,
        and more: String = "",
        words: String = "",
        comment: String
    ) -> String {
        String(decoding: PackageResources.movements_sql, as: UTF8.self)
            .replacing("{{table}}", with: name).replacing("{{knowledge}}", with: more)
            .replacing("{{words}}", with: words)
            + "\nCOMMENT ON TABLE {{schema}}.\(name) IS\n    '\(comment)'"
    }

    var indexSQL: String {
        String(decoding: PackageResources.movements_indexes_sql, as: UTF8.self)
    }

    // A movement is identified by its word, its purchase and its instant.
    var comparison: RowComparison {
        RowComparison(
            "movement",
            identities: [
                .columns("movement", "purchase_date_ms", "occurred_at", "product_identifier"),
                .columns("movement", "purchase_date_ms", "occurred_at"),
                .columns("movement", "purchase_date_ms"),
                .columns("purchase_date_ms", "occurred_at", "product_identifier"),
            ],
            aspects: [
                .init("movement-moved", "occurred_at"),
                .init("movement-kind-changed", "movement", "apple_event"),
                .init("expiration-reason-changed", "expiration_reason"),
                .init("amount-changed", "amount_milliunits", "currency"),
                .init("product-changed", "product_identifier", "previous_product_identifier"),
            ],
            money: .init(
                amount: "amount_milliunits",
                currency: "currency",
                isJournal: true
            ),
            instant: "occurred_at"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return Movements(timeline, context.catalogs).rows.map { $0.row(&writer) }
    }
}
