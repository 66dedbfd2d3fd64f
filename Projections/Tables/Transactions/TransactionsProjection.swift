/// The table `transactions`: the rows of `TransactionRows`.
struct TransactionsProjection: Projection {
    let name = "transactions"
    let version = 7
    let columns = [
        "store_transaction_id", "duplicate_transaction_ids", "web_order_line_item_id",
        "purchase_date_ms", "expires_date_ms",
        "product_identifier", "product_duration", "subscription_group_identifier", "group_level",
        "start_time", "end_time", "grace_period_end_time", "effective_end_time",
        "is_auto_renewable", "is_trial_period", "is_in_intro_offer_period", "is_sandbox",
        "apple_offer_type", "offer", "offer_discount_type", "currency",
        "purchase_price_milliunits", "price_milliunits", "country", "ownership_type",
        "transaction_reason", "renewal_number", "consecutive_paid_periods", "is_trial_conversion",
        "is_resubscribe", "gap_seconds", "plan_change", "previous_product_identifier",
        "refunded_at", "revocation_reason", "revocation_percentage", "is_upgraded",
        "unsubscribe_detected_at", "billing_issues_detected_at", "app_account_token", "quantity",
        "is_shared", "added_to_purchase_date_ms", "revoked_seat_quantity",
        "seat_price_milliunits", "invitation_management", "bundle_product_identifier",
        "bundle_original_transaction_id", "continued_original_transaction_id",
    ]

    var tableSQL: String {
        TransactionsProjection.tableSQL(
            name,
            comment: """
                Purchases in a form for analysts: one row each. In the order of start_time. A fold \
                of the log; rebuild it, never edit it.
                """
        )
    }

    /// DDL of a table with these columns, followed by additional ones.
    static func tableSQL(_ name: String, and more: String = "", comment: String) -> String {
        String(decoding: PackageResources.transactions_sql, as: UTF8.self)
            .replacing("{{table}}", with: name).replacing("{{knowledge}}", with: more)
            + "\nCOMMENT ON TABLE {{schema}}.\(name) IS\n    '\(comment)'"
    }

    var indexSQL: String {
        String(decoding: PackageResources.transactions_indexes_sql, as: UTF8.self)
    }

    // A row is about one purchase, identified by its second and Apple's ids.
    var comparison: RowComparison {
        RowComparison(
            "transaction",
            identities: [
                .columns("start_time", "store_transaction_id", "product_identifier"),
                .columns("start_time", "product_identifier"), .columns("start_time"),
                .columns("store_transaction_id"), .columns("web_order_line_item_id"),
            ],
            aspects: TransactionsProjection.aspects,
            money: .init(
                amount: "price_milliunits",
                currency: "currency",
                isJournal: false
            ),
            instant: "start_time"
        )
    }

    private static let aspects: [RowComparison.Aspect] = [
        .init(
            "transaction-moved",
            "start_time",
            "end_time",
            "grace_period_end_time",
            "effective_end_time"
        ),
        .init(
            "product-changed",
            "product_identifier",
            "product_duration",
            "subscription_group_identifier",
            "group_level"
        ),
        .init(
            "price-changed",
            "currency",
            "purchase_price_milliunits",
            "price_milliunits"
        ),
        .init(
            "seats-changed",
            "quantity",
            "is_shared",
            "added_to_purchase_date_ms",
            "revoked_seat_quantity",
            "seat_price_milliunits",
            "invitation_management"
        ),
        .init(
            "bundle-changed",
            "bundle_product_identifier",
            "bundle_original_transaction_id"
        ),
        .init(
            "refund-changed",
            "refunded_at",
            "revocation_reason",
            "revocation_percentage"
        ),
        .init(
            "plan-change-changed",
            "is_upgraded",
            "plan_change",
            "previous_product_identifier"
        ),
        .init(
            "offer-changed",
            "is_trial_period",
            "is_in_intro_offer_period",
            "apple_offer_type",
            "offer",
            "offer_discount_type"
        ),
        .init(
            "renewal-count-changed",
            "renewal_number",
            "consecutive_paid_periods",
            "is_trial_conversion",
            "is_resubscribe",
            "gap_seconds",
            "continued_original_transaction_id"
        ),
        .init(
            "detection-changed",
            "unsubscribe_detected_at",
            "billing_issues_detected_at"
        ),
    ]

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return TransactionRows(timeline.under(context.policy), context.catalogs).rows.map {
            $0.row(&writer)
        }
    }
}
