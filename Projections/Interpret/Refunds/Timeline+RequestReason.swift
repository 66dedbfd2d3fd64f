internal import Events

extension Timeline {
    /// Why the customer requested the refund of a purchase, according to the request with that
    /// as-of.
    ///
    /// Only CONSUMPTION_REQUEST carries it, and only if the customer chose a reason
    /// (developer.apple.com/documentation/appstoreservernotifications/consumptionrequestreason).
    func requestReason(at asOf: Instant, _ purchase: Purchase) -> String? {
        notifications.first { notice in
            notice.asOf == asOf && notice.notificationType == "CONSUMPTION_REQUEST"
                && notice.consumptionRequestReason != nil
                && (purchase.neverExpires || notice.purchaseDate == purchase.purchaseDate)
        }?.consumptionRequestReason
    }
}
