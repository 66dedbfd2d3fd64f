internal import Events

/// A time in which a purchase was revoked, before Apple reversed that (Apple's data: trap 30).
struct Suspension {
    /// The date of the refund; never before the purchase.
    var from: Instant
    /// The start of the purchase.
    let start: Instant
    /// When Apple first stated that it was reversed.
    var to: Instant
    /// Why the access ended for that time.
    let reason: ActivePeriod.EndReason
    /// The events that state it.
    var citations: Citations
}

extension [Suspension] {
    /// The same under a policy by which a refund revokes the whole purchase: the last refund starts
    /// with the purchase and replaces all suspensions before it; those for sharing that ended
    /// after it stay.
    func lookingBack(_ isLookingBack: Bool) -> [Suspension] {
        guard isLookingBack, let last = lastIndex(where: { $0.reason == .refunded }) else {
            return self
        }
        var refund = self[last]
        refund.from = refund.start
        return [refund] + self[(last + 1)...]
    }
}

extension Purchase {
    /// The times until its refunds were reversed, ascending, with gaps between them; nearly always
    /// none.
    var suspensions: [Suspension] {
        guard wasEverRevoked else { return [] }
        let stated = RefundMachine(revocationEvents).drafts.compactMap { draft -> Suspension? in
            guard let date = draft.revocation.date, let reversed = draft.reversed,
                date < reversed, purchaseDate < reversed
            else { return nil }
            var citations = draft.citations
            let ended =
                sharing(citing: &citations)
                ?? draft.revocation.type.flatMap(Sharing.init(revocationType:))
            return Suspension(
                from: max(date, purchaseDate),
                start: purchaseDate,
                to: reversed,
                reason: ended?.endReason ?? .refunded,
                citations: citations
            )
        }
        // A refund may be dated within an earlier suspension.
        return stated.sorted { ($0.from, $0.to) < ($1.from, $1.to) }.reduce(into: []) {
            merged,
            next in
            guard let last = merged.last, next.from <= last.to else {
                merged.append(next)
                return
            }
            merged[merged.count - 1].to = max(last.to, next.to)
            merged[merged.count - 1].citations.cite(next.citations)
        }
    }
}
