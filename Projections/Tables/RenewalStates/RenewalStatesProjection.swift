internal import Events

/// The table `renewal_states`: the rows of `RenewalStates`.
struct RenewalStatesProjection: DeclaredProjection {
    let name = "renewal_states"
    let version = 5
    let definition = embeddedFile("renewal-states.sql")
    let indexes = embeddedFile("renewal-states-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<RenewalState>
    ) {
        column("valid_from", row.pointee.validFrom)
        column("valid_to", row.pointee.validTo)
        column("status", row.pointee.status.description)
        column("charge", row.pointee.charge.rawValue)
        column("is_auto_renew_on", row.pointee.isAutoRenewOn)
        column("auto_renew_product_identifier", row.pointee.autoRenewProductId)
        column("price_consent", row.pointee.priceConsent?.rawValue)
        column("expiration_reason", row.pointee.expirationReason?.rawValue)
        column("renewal_price_milliunits", row.pointee.terms?.priceMilliunits)
        column("renewal_currency", row.pointee.terms?.currency)
        column("renewal_apple_offer_type", row.pointee.terms?.offer?.type)
        column("renewal_offer_identifier", row.pointee.terms?.offer?.identifier)
        column("renewal_offer_discount_type", row.pointee.terms?.offer?.discountType)
        column("renewal_offer_period", row.pointee.terms?.offer?.period)
        column("renewal_billing_plan_type", row.pointee.terms?.billingPlanType)
        column("commitment_renewal_at", row.pointee.terms?.commitment?.renewalDate)
        column(
            "commitment_renewal_price_milliunits",
            row.pointee.terms?.commitment?.priceMilliunits
        )
        column("is_commitment_auto_renew_on", row.pointee.terms?.commitment?.isAutoRenewOn)
        column(
            "commitment_auto_renew_product_identifier",
            row.pointee.terms?.commitment?.autoRenewProductId
        )
        column(
            "commitment_renewal_billing_plan_type",
            row.pointee.terms?.commitment?.billingPlanType
        )
        column("renewal_seat_quantity", row.pointee.terms?.seatQuantity)
        column("renewal_total_milliunits", row.pointee.terms?.totalMilliunits)
        column("renewal_bundle_product_identifier", row.pointee.terms?.bundleProductId)
        column("will_unbundle", row.pointee.terms?.willUnbundle)
    }

    // A row is an interval, identified by its start, or otherwise by its end.
    var comparison: RowComparison {
        RowComparison(
            "state",
            identities: [
                .columns("valid_from", "status"), .columns("valid_from"),
                .columns("valid_to", "status"), .columns("valid_to"),
            ],
            aspects: [
                "state-moved": ["valid_from", "valid_to"],
                "status-changed": ["status"],
                "charge-changed": ["charge"],
                "auto-renew-changed": ["is_auto_renew_on", "auto_renew_product_identifier"],
                "price-consent-changed": ["price_consent"],
                "expiration-reason-changed": ["expiration_reason"],
                "next-charge-changed": ["renewal_price_milliunits", "renewal_currency"],
                "renewal-offer-changed": [
                    "renewal_apple_offer_type", "renewal_offer_identifier",
                    "renewal_offer_discount_type", "renewal_offer_period",
                ],
                "renewal-billing-plan-changed": [
                    "renewal_billing_plan_type", "commitment_renewal_at",
                    "commitment_renewal_price_milliunits", "is_commitment_auto_renew_on",
                    "commitment_auto_renew_product_identifier",
                    "commitment_renewal_billing_plan_type",
                ],
                "renewal-seats-changed": ["renewal_seat_quantity", "renewal_total_milliunits"],
                "renewal-bundle-changed": ["renewal_bundle_product_identifier", "will_unbundle"],
            ],
            instant: "valid_from"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [RenewalState] {
        RenewalStates(timeline.under(context.policy)).rows
    }
}

extension RenewalState: CausedRow {}
