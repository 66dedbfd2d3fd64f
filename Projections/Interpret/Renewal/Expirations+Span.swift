internal import Events

extension Expirations {
    /// Why the purchase that was the newest before a span without access was not renewed.
    ///
    /// If it expired out of a retry without a stated intent, the reason is that billing failed.
    func statedReason(of span: StatusSpan) -> StatedReason? {
        guard !statements.isEmpty, span.status == .expired || span.status == .billingRetry else {
            return nil
        }
        let earlier = Instant(milliseconds: span.from.milliseconds - 1)
        guard !timeline.purchases.isEmpty else { return nil }
        let index = timeline.newestPurchase(begunBy: earlier) ?? 0
        if let stated = statedReason(ending: index, from: span.from, to: span.to) { return stated }
        guard span.status == .expired else { return nil }
        let expiresDate = timeline.purchases[index].expiresDate
        let last = timeline.renewalStatements.last {
            $0.asOf <= span.from && $0.isAbout(expiresDate)
        }
        guard let last, last.isInBillingRetry == true, last.isAutoRenewOn != false else {
            return nil
        }
        return StatedReason(billingBy: last)
    }
}
