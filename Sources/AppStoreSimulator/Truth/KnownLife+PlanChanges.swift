internal import Events

/// The products that the customer changed between, and the requests that had no effect.
extension KnownLife {
    // A request for another product from the next renewal on.
    private struct Request {
        let from: SimulatedProduct
        let to: SimulatedProduct
        let requested: Instant
        let offer: SimulatedOffer.Category?
        var end = End.open

        enum End {
            case open
            case withdrawn(Instant)
            case lapsed
            case effective(purchase: Int)
        }
    }

    /// The rows of `plan_changes`.
    var planChanges: [SimulatedPlanChange] {
        let requests = requests
        var effective: [Int: Request] = [:]
        for request in requests {
            if case .effective(let number) = request.end { effective[number] = request }
        }
        let facts = state.purchases.indices.dropFirst().compactMap { number in
            fact(number, after: effective[number])
        }
        return (facts + requests.compactMap { row(of: $0) }).sorted { left, right in
            let (one, other) = (
                left.requested ?? left.effective, right.requested ?? right.effective
            )
            if let one, let other, one != other { return one < other }
            return (left.fromProductId, left.toProductId) < (right.fromProductId, right.toProductId)
        }
    }

    /// Whether a purchase continues where the one before it stopped, without a lapse.
    ///
    /// Renewals always do, even one that was recovered in retry (Apple's data: trap 19).
    func isContinuing(_ number: Int) -> Bool {
        let purchase = state.purchases[number]
        let before = periods.last { $0.validFrom < purchase.purchaseDate }
        return purchase.isRenewal || before.map { $0.validTo >= purchase.purchaseDate } ?? false
    }

    private func fact(_ number: Int, after request: Request?) -> SimulatedPlanChange? {
        let (old, new) = (state.purchases[number - 1], state.purchases[number])
        guard old.product != new.product else { return nil }
        let start = new.purchaseDate
        let isTakenBack = state.revocation(ofPeriod: number - 1).map { $0.date < start } ?? false
        let timing: SimulatedPlanChange.Timing =
            start < old.expiresDate && !isTakenBack
            ? .now : isContinuing(number) ? .nextRenewal : .resubscribe
        return SimulatedPlanChange(
            fromProductId: old.product.id,
            toProductId: new.product.id,
            requested: request?.requested,
            effective: start,
            withdrawn: nil,
            state: .effective,
            timing: timing,
            class: new.product.change(from: old.product),
            isSameDuration: old.product.duration == new.product.duration,
            offer: new.offer?.category,
            refundsPrevious: timing == .now && old.price != 0 && !identity.isMember
        )
    }

    private func row(of request: Request) -> SimulatedPlanChange? {
        let withdrawn: Instant?
        let end: SimulatedPlanChange.State
        switch request.end {
        case .effective: return nil
        case .open: (withdrawn, end) = (nil, isOver ? .lapsed : .requested)
        case .withdrawn(let instant): (withdrawn, end) = (instant, .withdrawn)
        case .lapsed: (withdrawn, end) = (nil, .lapsed)
        }
        return SimulatedPlanChange(
            fromProductId: request.from.id,
            toProductId: request.to.id,
            requested: request.requested,
            effective: nil,
            withdrawn: withdrawn,
            state: end,
            timing: .nextRenewal,
            class: request.to.change(from: request.from),
            isSameDuration: request.from.duration == request.to.duration,
            offer: request.offer,
            refundsPrevious: false
        )
    }

    // Whether the subscription has ended, as far as is known.
    private var isOver: Bool {
        switch state.phase {
        case .expired, .revoked: true
        default: false
        }
    }

    // All requests with their outcome, by the steps of the script.
    private var requests: [Request] {
        var requests: [Request] = []
        func end(_ end: Request.End) {
            guard let last = requests.indices.last, case .open = requests[last].end else { return }
            requests[last].end = end
        }
        for chapter in chapters {
            let newest = chapter.state.purchases.count - 1
            switch chapter.step {
            case .changeAtRenewal(let product, let offer, _):
                end(.withdrawn(chapter.signedAt))
                guard let current = chapter.state.newest?.product, product != current else { break }
                requests.append(
                    Request(
                        from: current,
                        to: product,
                        requested: chapter.signedAt,
                        offer: offer?.category
                    )
                )
            case .changeNow: end(.withdrawn(chapter.signedAt))
            case .renew, .recover: end(.effective(purchase: newest))
            case .subscribe:
                // A refund that was reversed later has not ended anything.
                let isWanted = requests.last?.to == chapter.state.newest?.product
                end(
                    !isContinuing(newest)
                        ? .lapsed
                        : isWanted
                            ? .effective(purchase: newest) : .withdrawn(chapter.signedAt)
                )
            case .expire, .giveUp: end(.lapsed)
            case .turnAutoRenewOff:
                if case .expired = chapter.state.phase { end(.lapsed) }
            default: break
            }
        }
        return requests
    }
}

extension SimulatedProduct {
    /// The class of a change from another product of the group to this one.
    func change(from other: SimulatedProduct) -> SimulatedPlanChange.Class {
        if level == other.level { return .crossgrade }
        return level < other.level ? .upgrade : .downgrade
    }
}
