/// The table `transactions`: the rows of `TransactionRows`.
struct TransactionsProjection: Projection {
    let name = "transactions"
    let version = 1
    let columns = [
        "store_transaction_id", "duplicate_transaction_ids", "web_order_line_item_id",
        "product_identifier", "product_duration", "subscription_group_identifier", "group_level",
        "start_time", "end_time", "grace_period_end_time", "effective_end_time",
        "is_auto_renewable", "is_trial_period", "is_in_intro_offer_period", "is_sandbox",
        "offer_type", "offer_identifier", "offer_discount_type", "purchased_currency",
        "purchase_price_milliunits", "price_milliunits", "country", "ownership_type",
        "transaction_reason", "renewal_number", "consecutive_paid_periods", "is_trial_conversion",
        "is_resubscribe", "gap_seconds", "plan_change", "previous_product_identifier",
        "refunded_at", "revocation_reason", "revocation_percentage", "is_upgraded",
        "unsubscribe_detected_at", "billing_issues_detected_at", "app_account_token", "quantity",
    ]

    var tableSQL: String { String(decoding: PackageResources.transactions_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.transactions_indexes_sql, as: UTF8.self)
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        TransactionRows(timeline, context.catalogues).rows.map {
            ProjectionRow(values: $0.values, positions: $0.positions)
        }
    }
}
