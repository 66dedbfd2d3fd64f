public import Events

/// How a subscription is billed: upfront for its whole duration, or monthly with a commitment.
///
/// Sources: https://developer.apple.com/documentation/appstoreserverapi/billingplantype and
/// https://developer.apple.com/documentation/appstoreserverapi/commitmentinfo
public struct BillingPlan: Hashable, Sendable {
    /// Apple's `billingPlanType`: BILLED_UPFRONT, MONTHLY, or a later word; nil if not stated.
    public let type: String?
    /// The commitment that the period belongs to; nil if there is none.
    public let commitment: Commitment?

    /// A number of billing periods that the customer committed to.
    public struct Commitment: Codable, Hashable, Sendable {
        /// The number of the period within the commitment, from 1.
        public let periodNumber: Int64?
        /// How many there are: 12 for a year paid monthly.
        public let periodCount: Int64?
        /// When the commitment ends.
        public let expiresDate: Instant?
        /// The price of all periods together, in milliunits of the purchase's currency.
        public let priceMilliunits: Int64?

        // Apple's names.
        private enum CodingKeys: String, CodingKey {
            case periodNumber = "billingPeriodNumber"
            case periodCount = "totalBillingPeriods"
            case expiresDate = "commitmentExpiresDate"
            case priceMilliunits = "commitmentPrice"
        }
    }
}

extension Purchase {
    /// The billing plan, as last asserted; nil if Apple does not state it, as before 2026-04.
    package var billingPlan: BillingPlan? {
        let type = text(of: .billingPlanType)
        let info = text(of: .commitmentInfo).map { ExtraObject($0) }
        guard type != nil || info != nil else { return nil }
        return BillingPlan(
            type: type,
            commitment: info.map { info in
                BillingPlan.Commitment(
                    periodNumber: info.integer("billingPeriodNumber"),
                    periodCount: info.integer("totalBillingPeriods"),
                    expiresDate: info.instant("commitmentExpiresDate"),
                    priceMilliunits: info.integer("commitmentPrice")
                )
            }
        )
    }

    /// Apple's `billingPlanType` as last asserted; nil if not stated.
    var billingPlanType: String? { text(of: .billingPlanType) }

    private func text(of field: Field) -> String? {
        if case .value(.text(let text)) = state(of: field) { text } else { nil }
    }
}
