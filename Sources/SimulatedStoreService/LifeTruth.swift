internal import AppStoreSimulator
internal import Events

/// What really happened to a subscription up to an instant, as `periods --json` has it.
struct LifeTruth: Encodable {
    let originalTransactionId: String
    let environment: Environment
    let periods: [Row]

    /// A period with access.
    struct Row: Encodable {
        let productId: String
        let validFrom: Instant
        let validTo: Instant
        let kind: String
        let endReason: String
    }

    /// The truth at a real instant; nil before anything was bought.
    init?(_ life: SubscriptionLife, at now: Instant) {
        let pace = life.store.pace
        let rows = life.periods(asOf: pace.calendar(now))
        guard !rows.isEmpty else { return nil }
        originalTransactionId = life.originalTransactionId
        environment = life.store.environment
        periods = rows.map {
            Row(
                productId: $0.productId,
                validFrom: pace.date($0.validFrom),
                validTo: pace.date($0.validTo),
                kind: $0.kind.rawValue,
                endReason: $0.endReason.rawValue
            )
        }
    }
}
