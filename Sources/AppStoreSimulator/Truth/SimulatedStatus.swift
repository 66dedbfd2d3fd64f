package import Events
package import Projections

/// The state of a subscription at an instant, whether or not Apple has reported it yet.
package struct SimulatedStatus: Hashable, Sendable {
    /// The product that was bought last.
    package let productId: String
    /// When the last purchase ends.
    package let expiresDate: Instant
    /// The `webOrderLineItemId` of the last purchase.
    package let webOrderLineItemId: String
    /// Apple's status.
    package let status: SubscriptionStatus
    /// The renewal switch.
    package let isAutoRenewOn: Bool
    /// The product that renews next.
    package let autoRenewProductId: String
    /// The developer's id of the customer; nil if the app set none.
    package let appAccountToken: String?
}

extension SubscriptionLife {
    /// The state of the subscription at an instant; nil before anything was bought.
    package func status(asOf instant: Instant) -> SimulatedStatus? {
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
