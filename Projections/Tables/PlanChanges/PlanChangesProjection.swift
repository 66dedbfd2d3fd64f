internal import Events

/// The table `plan_changes`: the rows of `PlanChanges`.
struct PlanChangesProjection: DeclaredProjection {
    let name = "plan_changes"
    let version = 6
    let definition = embeddedFile("plan-changes.sql")
    let indexes = embeddedFile("plan-changes-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<PlanChange>
    ) {
        column("previous_product_identifier", row.pointee.fromProductId)
        column("product_identifier", row.pointee.toProductId)
        column("requested_at", row.pointee.requested)
        column("effective_at", row.pointee.effective)
        column("withdrawn_at", row.pointee.withdrawn)
        column("plan_change_state", row.pointee.state.rawValue)
        column("plan_change_timing", row.pointee.timing.rawValue)
        column("plan_change", row.pointee.changeClass.rawValue)
        column("is_same_duration", row.pointee.hasSameDuration)
        column("catalog_version", row.pointee.catalogVersion)
        column("apple_offer_type", row.pointee.offerType)
        column("refunds_previous", row.pointee.refundsPrevious)
        column("is_undated", row.pointee.isUndated)
        column("previous_billing_plan_type", row.pointee.fromBillingPlanType)
        column("billing_plan_type", row.pointee.toBillingPlanType)
        column("estimated_refund_milliunits", row.pointee.estimatedRefundMilliunits)
        column("estimated_refund_currency", row.pointee.estimatedRefundCurrency)
        column("previous_seat_quantity", row.pointee.fromSeatQuantity)
        column("seat_quantity", row.pointee.toSeatQuantity)
    }

    // A change is between two products, requested or effective at an instant.
    var comparison: RowComparison {
        let products = [RowComparison.IdentityPart].columns(
            "previous_product_identifier",
            "product_identifier"
        )
        return RowComparison(
            "plan-change",
            identities: [
                products + .columns("effective_at"), products + .columns("requested_at"),
                .columns("effective_at"), .columns("requested_at"),
            ],
            aspects: [
                "plan-change-state-changed": ["plan_change_state", "withdrawn_at"],
                "plan-change-moved": ["requested_at", "effective_at", "plan_change_timing"],
                "plan-change-class-changed": [
                    "plan_change", "is_same_duration", "catalog_version",
                ],
                "product-changed": ["previous_product_identifier", "product_identifier"],
                "estimated-refund-changed": [
                    "estimated_refund_milliunits", "estimated_refund_currency",
                ],
                "billing-plan-changed": ["previous_billing_plan_type", "billing_plan_type"],
                "seats-changed": ["previous_seat_quantity", "seat_quantity"],
            ],
            instant: "effective_at"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [PlanChange] {
        PlanChanges(timeline, context.catalogs).rows
    }
}

extension PlanChange: CausedRow {}
