internal import Events

extension Timeline {
    /// Why the customer asked for the refund of a purchase, as the request of that as-of says it.
    ///
    /// Only CONSUMPTION_REQUEST carries it, and only where the customer chose a reason
    /// (developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason).
    func requestReason(at asOf: Instant, _ purchase: Purchase) -> String? {
        notifications.first { notice in
            notice.asOf == asOf && notice.notificationType == "CONSUMPTION_REQUEST"
                && notice.consumptionRequestReason != nil
                && (purchase.neverExpires || notice.purchaseDate == purchase.purchaseDate)
        }?.consumptionRequestReason
    }
}
