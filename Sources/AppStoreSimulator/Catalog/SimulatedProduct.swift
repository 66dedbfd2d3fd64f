/// A subscription product of the simulated app.
package struct SimulatedProduct: Hashable, Sendable {
    /// Apple's product identifier.
    package let id: String
    /// The subscription group; a customer has at most one running subscription in each.
    package let group: String
    /// The rank in its group, 1 for the most service; independent of price and length
    /// (Apple's data: trap 23).
    package let level: Int
    /// The length of a period.
    package let duration: SubscriptionDuration
    /// The price of a period in the United States, in thousandths of a dollar.
    package let dollarMilliunits: Int64
    /// How a commitment is paid; nil for products sold without one.
    package let billingPlan: BillingPlan?

    /// A product with these properties.
    package init(
        id: String,
        group: String,
        level: Int,
        duration: SubscriptionDuration,
        dollarMilliunits: Int64,
        billingPlan: BillingPlan? = nil
    ) {
        self.id = id
        self.group = group
        self.level = level
        self.duration = duration
        self.dollarMilliunits = dollarMilliunits
        self.billingPlan = billingPlan
    }

    /// How a commitment of a year is paid (`billingPlanType`, Apple's data: transactions).
    package enum BillingPlan: Hashable, Sendable {
        /// At once.
        case billedUpfront
        /// Period by period, that many of them.
        case monthly(periods: Int64)

        /// Apple's word for it.
        var word: String {
            switch self {
            case .billedUpfront: "BILLED_UPFRONT"
            case .monthly: "MONTHLY"
            }
        }
    }
}

/// The App Store's rules for a change of product (Apple's data: trap 23).
extension SimulatedProduct {
    /// Whether it replaces another product of its group at once: it has a higher level, or the same
    /// level and length.
    func beginsAtOnce(after old: SimulatedProduct) -> Bool {
        self != old && (level < old.level || level == old.level && duration == old.duration)
    }

    /// Whether it waits for the renewal: it has a lower level, or the same level and another
    /// length.
    func waits(after old: SimulatedProduct) -> Bool {
        level > old.level || level == old.level && duration != old.duration
    }
}
