internal import AppStoreSimulator
internal import Events
internal import Projections

/// What really happened to a subscription up to an instant: its periods in the format of `periods
/// --json`, and its current state.
struct LifeTruth: Encodable {
    let originalTransactionId: String
    let environment: StoreEnvironment
    let appTransactionId: String
    let appAccountToken: String?
    /// The last product that was bought.
    let productId: String
    /// One of the values in the table `renewal_states`: active, grace_period, billing_retry,
    /// expired, revoked.
    let status: SubscriptionStatus
    /// Whether it is set to renew.
    let autoRenew: Bool
    /// The product that renews next.
    let autoRenewProductId: String
    let periods: [Row]

    /// A period with access.
    struct Row: Encodable {
        let productId: String
        let validFrom: Instant
        let validTo: Instant
        let kind: SimulatedPeriod.Kind
        let endReason: SimulatedPeriod.EndReason
    }

    /// The truth at an instant of the life's calendar; nil before anything was bought.
    init?(_ life: SubscriptionLife, asOf instant: Instant) {
        let pace = life.store.pace
        let rows = life.periods(asOf: instant)
        guard let state = life.status(asOf: instant), !rows.isEmpty else { return nil }
        originalTransactionId = life.originalTransactionId
        environment = life.store.environment
        appTransactionId = life.identity.appTransactionId
        appAccountToken = state.appAccountToken
        productId = state.productId
        status = state.status
        autoRenew = state.isAutoRenewOn
        autoRenewProductId = state.autoRenewProductId
        periods = rows.map {
            Row(
                productId: $0.productId,
                validFrom: pace.date($0.validFrom),
                validTo: pace.date($0.validTo),
                kind: $0.kind,
                endReason: $0.endReason
            )
        }
    }
}
