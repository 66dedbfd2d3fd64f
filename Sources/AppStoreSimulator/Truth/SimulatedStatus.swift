public import Events
public import Projections

/// The state of a subscription at an instant, whether or not Apple has reported it yet.
public struct SimulatedStatus: Hashable, Sendable {
    /// The product that was bought last.
    public let productId: String
    /// When the last purchase ends.
    public let expiresDate: Instant
    /// The `webOrderLineItemId` of the last purchase.
    public let webOrderLineItemId: String
    /// Apple's status.
    public let status: SubscriptionStatus
    /// The renewal switch.
    public let isAutoRenewOn: Bool
    /// The product that renews next.
    public let autoRenewProductId: String
    /// The developer's id of the customer; nil if the app set none.
    public let appAccountToken: String?
}

extension SubscriptionLife {
    /// The state of the subscription at an instant; nil before anything was bought.
    public func status(asOf instant: Instant) -> SimulatedStatus? {
        guard let state = state(asOf: instant), let newest = state.newest,
            let status = state.status(at: instant)
        else { return nil }
        return SimulatedStatus(
            productId: newest.product.id,
            expiresDate: newest.expiresDate,
            webOrderLineItemId: identity.webOrderLineItemId(newest.lineItemNumber),
            status: status,
            isAutoRenewOn: state.isAutoRenewOn,
            autoRenewProductId: state.renewalProduct?.id ?? newest.product.id,
            appAccountToken: state.appAccountToken ?? identity.appAccountToken
        )
    }
}
