/// The table `renewal_states`: the rows of `RenewalStates`.
struct RenewalStatesProjection: Projection {
    let name = "renewal_states"
    let version = 5
    let columns = [
        "valid_from", "valid_to", "status", "charge", "is_auto_renew_on",
        "auto_renew_product_identifier", "price_consent", "expiration_reason",
        "renewal_price_milliunits", "renewal_currency", "renewal_apple_offer_type",
        "renewal_offer_identifier", "renewal_offer_discount_type", "renewal_offer_period",
        "renewal_billing_plan_type", "commitment_renewal_at",
        "commitment_renewal_price_milliunits", "is_commitment_auto_renew_on",
        "commitment_auto_renew_product_identifier", "commitment_renewal_billing_plan_type",
        "renewal_seat_quantity", "renewal_total_milliunits", "renewal_bundle_product_identifier",
        "will_unbundle",
    ]

    var tableSQL: String { String(decoding: PackageResources.renewal_states_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.renewal_states_indexes_sql, as: UTF8.self)
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
                .init("state-moved", "valid_from", "valid_to"),
                .init("status-changed", "status"),
                .init("charge-changed", "charge"),
                .init("auto-renew-changed", "is_auto_renew_on", "auto_renew_product_identifier"),
                .init("price-consent-changed", "price_consent"),
                .init("expiration-reason-changed", "expiration_reason"),
                .init("next-charge-changed", "renewal_price_milliunits", "renewal_currency"),
                .init(
                    "renewal-offer-changed",
                    "renewal_apple_offer_type",
                    "renewal_offer_identifier",
                    "renewal_offer_discount_type",
                    "renewal_offer_period"
                ),
                .init(
                    "renewal-billing-plan-changed",
                    "renewal_billing_plan_type",
                    "commitment_renewal_at",
                    "commitment_renewal_price_milliunits",
                    "is_commitment_auto_renew_on",
                    "commitment_auto_renew_product_identifier",
                    "commitment_renewal_billing_plan_type"
                ),
                .init(
                    "renewal-seats-changed",
                    "renewal_seat_quantity",
                    "renewal_total_milliunits"
                ),
                .init(
                    "renewal-bundle-changed",
                    "renewal_bundle_product_identifier",
                    "will_unbundle"
                ),
            ],
            instant: "valid_from"
        )
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        var writer = RowWriter()
        return RenewalStates(timeline.under(context.policy)).rows.map { $0.row(&writer) }
    }
}
