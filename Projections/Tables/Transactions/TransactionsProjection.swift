internal import Events

/// The table `transactions`: the rows of `TransactionRows`.
struct TransactionsProjection: DeclaredProjection {
    let name = "transactions"
    let version = 8
    let definition = embeddedFile("transactions.sql")
    let indexes = embeddedFile("transactions-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<TransactionRow>
    ) {
        column("store_transaction_id", row.pointee.ids.storeTransactionId)
        column("duplicate_transaction_ids", type: "text[]", row.pointee.ids.duplicateTransactionIds)
        column("web_order_line_item_id", row.pointee.ids.webOrderLineItemId)
        column("purchase_date_ms", row.pointee.time.start.milliseconds)
        column("expires_date_ms", row.pointee.time.end?.milliseconds)
        column("product_identifier", row.pointee.product.productId)
        column("product_duration", row.pointee.product.duration?.description)
        column("subscription_group_identifier", row.pointee.product.subscriptionGroupIdentifier)
        column("group_level", row.pointee.product.groupLevel)
        column("start_time", row.pointee.time.start)
        column("end_time", row.pointee.time.end)
        column("grace_period_end_time", row.pointee.time.gracePeriodEnd)
        column("effective_end_time", row.pointee.time.effectiveEnd)
        column("is_auto_renewable", row.pointee.terms.isAutoRenewable)
        column("is_trial_period", row.pointee.terms.isTrialPeriod)
        column("is_in_intro_offer_period", row.pointee.terms.isInIntroOfferPeriod)
        column("is_sandbox", row.pointee.stream.environment != .production)
        column("apple_offer_type", row.pointee.terms.offerType)
        column("offer", row.pointee.terms.offerIdentifier)
        column("offer_discount_type", row.pointee.terms.offerDiscountType)
        column("currency", row.pointee.money.currency)
        column("purchase_price_milliunits", row.pointee.money.grossMilliunits)
        column("price_milliunits", row.pointee.money.netMilliunits)
        column("country", row.pointee.terms.country)
        column("ownership_type", row.pointee.terms.ownershipType)
        column("transaction_reason", row.pointee.terms.transactionReason)
        column("renewal_number", row.pointee.place.renewalNumber)
        column("consecutive_paid_periods", row.pointee.place.consecutivePaidPeriods)
        column("is_trial_conversion", row.pointee.place.isTrialConversion)
        column("is_resubscribe", row.pointee.place.isResubscribe)
        column("gap_seconds", row.pointee.place.gapSeconds)
        column("plan_change", row.pointee.place.planChange?.rawValue)
        column("previous_product_identifier", row.pointee.place.previousProductId)
        column("refunded_at", row.pointee.fate.refunded)
        column("revocation_reason", row.pointee.fate.revocationReason)
        column("revocation_percentage", row.pointee.fate.revocationPercentage)
        column("is_upgraded", row.pointee.fate.isUpgraded)
        column("unsubscribe_detected_at", row.pointee.fate.unsubscribeDetected)
        column("billing_issues_detected_at", row.pointee.fate.billingIssuesDetected)
        column("app_account_token", row.pointee.ids.appAccountToken)
        column("quantity", row.pointee.terms.quantity)
        column(
            "is_shared",
            row.pointee.terms.ownershipType.flatMap(Sharing.init(ownershipType:)) != nil
        )
        column("added_to_purchase_date_ms", row.pointee.seats?.addedTo?.milliseconds)
        column("revoked_seat_quantity", row.pointee.seats?.revokedQuantity)
        column("seat_price_milliunits", row.pointee.seats?.averagePriceMilliunits)
        column("invitation_management", row.pointee.seats?.invitationManagement)
        column("bundle_product_identifier", row.pointee.bundle?.productId)
        column("bundle_original_transaction_id", row.pointee.bundle?.originalTransactionId)
        column("continued_original_transaction_id", row.pointee.ids.continuedOriginalTransactionId)
    }

    var tableSQL: String {
        tableSQL(
            comment: """
                Purchases in a form for analysts: one row each. In the order of start_time. A fold \
                of the log; rebuild it, never edit it.
                """
        )
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
            aspects: [
                "transaction-moved": [
                    "start_time", "end_time", "grace_period_end_time", "effective_end_time",
                ],
                "product-changed": [
                    "product_identifier", "product_duration", "subscription_group_identifier",
                    "group_level",
                ],
                "price-changed": ["currency", "purchase_price_milliunits", "price_milliunits"],
                "seats-changed": [
                    "quantity", "is_shared", "added_to_purchase_date_ms", "revoked_seat_quantity",
                    "seat_price_milliunits", "invitation_management",
                ],
                "bundle-changed": ["bundle_product_identifier", "bundle_original_transaction_id"],
                "refund-changed": ["refunded_at", "revocation_reason", "revocation_percentage"],
                "plan-change-changed": [
                    "is_upgraded", "plan_change", "previous_product_identifier",
                ],
                "offer-changed": [
                    "is_trial_period", "is_in_intro_offer_period", "apple_offer_type", "offer",
                    "offer_discount_type",
                ],
                "renewal-count-changed": [
                    "renewal_number", "consecutive_paid_periods", "is_trial_conversion",
                    "is_resubscribe", "gap_seconds", "continued_original_transaction_id",
                ],
                "detection-changed": ["unsubscribe_detected_at", "billing_issues_detected_at"],
            ],
            money: .init(amount: "price_milliunits", currency: "currency", isJournal: false),
            instant: "start_time"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [TransactionRow] {
        TransactionRows(timeline.under(context.policy), context.catalogs).rows
    }
}

extension TransactionRow: CausedRow {}
