internal import Events

/// The table `active_periods`: the rows of `ActivePeriods`.
struct ActivePeriodsProjection: DeclaredProjection {
    let name = "active_periods"
    let version = 5
    let definition = embeddedFile("active-periods.sql")
    let indexes = embeddedFile("active-periods-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<ActivePeriod>
    ) {
        column("product_identifier", row.pointee.productId)
        column("purchase_date_ms", row.pointee.purchaseDate.milliseconds)
        column("expires_date_ms", row.pointee.expiresDate.milliseconds)
        column("valid_from", row.pointee.validFrom)
        column("valid_to", row.pointee.validTo)
        column("kind", row.pointee.kind.rawValue)
        column("end_reason", row.pointee.endReason.rawValue)
        column("expiration_reason", row.pointee.expirationReason?.rawValue)
        column("billing_plan_type", row.pointee.billingPlanType)
        column("commitment_period_number", row.pointee.commitment?.periodNumber)
        column("commitment_period_count", row.pointee.commitment?.periodCount)
        column("commitment_expires_at", row.pointee.commitment?.expiresDate)
        column("commitment_price_milliunits", row.pointee.commitment?.priceMilliunits)
        column("advanced_commerce_skus", (row.pointee.advancedCommerceItems ?? []).map(\.sku))
        column("seat_quantity", row.pointee.seatQuantity)
        column("bundle_product_identifier", row.pointee.bundleProductId)
    }

    // A row is about one purchase, or about the grace after it. Apple's later statements may change
    // its end, and another fold may take its product or start from another source.
    var comparison: RowComparison {
        let grace = RowComparison.IdentityPart.holds("kind", text: "grace")
        return RowComparison(
            "period",
            identities: [
                .columns("purchase_date_ms", "expires_date_ms", "product_identifier") + [grace],
                .columns("purchase_date_ms", "product_identifier") + [grace],
                .columns("purchase_date_ms") + [grace],
                .columns("expires_date_ms", "product_identifier") + [grace],
            ],
            aspects: [
                "period-moved": ["valid_from", "valid_to"],
                "end-reason-changed": ["end_reason"],
                "expiration-reason-changed": ["expiration_reason"],
                "billing-plan-changed": [
                    "billing_plan_type", "commitment_period_number", "commitment_period_count",
                    "commitment_expires_at", "commitment_price_milliunits",
                ],
                "items-changed": ["advanced_commerce_skus"],
                "seats-changed": ["seat_quantity"],
                "bundle-changed": ["bundle_product_identifier"],
                "product-changed": ["product_identifier"],
                "kind-changed": ["kind"],
            ],
            access: .init(from: "valid_from", to: "valid_to", grace: grace),
            instant: "valid_from"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [ActivePeriod] {
        ActivePeriods(timeline.under(context.policy)).rows
    }
}

extension ActivePeriod: CausedRow {}

extension ActivePeriod {
    /// The values of its row, up to why access ended.
    package var values: [ColumnValue] {
        var writer = RowWriter()
        let row = ActivePeriodsProjection().row(of: self, &writer)
        return Array(row.values.prefix(ActivePeriod.accessColumns))
    }

    private static let accessColumns = 7
}
