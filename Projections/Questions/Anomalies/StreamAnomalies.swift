internal import Events

/// What a person should check about a subscription: its money, and dates that cannot be right.
package struct StreamAnomalies: Sendable {
    /// At most one refund loop and one refund of everything, one row for each purchase that was
    /// refunded again, at most one for all empty periods, and at most one for all extensions that
    /// were taken back; in this order.
    package let found: [StreamAnomaly]

    /// The anomalies of a timeline, with its changes classified by these catalogs.
    package init(
        _ timeline: Timeline,
        _ catalogs: CatalogHistory,
        limits: AnomalyLimits = AnomalyLimits()
    ) {
        let others = [
            StreamAnomalies.emptyPeriods(of: timeline),
            StreamAnomalies.extensionsTakenBack(in: timeline),
        ].compactMap { $0 }
        let refunds = Refunds(timeline).rows
        let changes = PlanChanges(timeline, catalogs).rows
        guard !refunds.isEmpty || changes.count >= limits.loopChangesMin else {
            found = others
            return
        }
        let loop = StreamAnomalies.loop(in: changes, refunds, of: timeline, limits)
        let everything = StreamAnomalies.everything(of: timeline, refunds, limits)
        let again = StreamAnomalies.again(refunds, of: timeline, limits)
        found = [loop, everything].compactMap { $0 } + again + others
    }

    private static func emptyPeriods(of timeline: Timeline) -> StreamAnomaly? {
        let empty = timeline.purchases.filter { $0.expiresDate <= $0.purchaseDate }
        guard let first = empty.first, let last = empty.last else { return nil }
        return StreamAnomaly(
            timeline,
            .emptyPeriod,
            count: empty.count,
            from: first.purchaseDate,
            to: last.purchaseDate,
            [],
            positions: empty.map { Position(lane: timeline.lane, offset: $0.datesOffset) }
        )
    }

    // Old formats round, and Apple extends by days.
    private static func extensionsTakenBack(in timeline: Timeline) -> StreamAnomaly? {
        let taken = timeline.purchases.flatMap(\.extensions).filter { change in
            change.from.milliseconds - change.to.milliseconds >= roundingMax
        }.sorted { $0.asOf < $1.asOf }
        guard let first = taken.first, let last = taken.last else { return nil }
        return StreamAnomaly(
            timeline,
            .extensionTakenBack,
            count: taken.count,
            from: first.asOf,
            to: last.asOf,
            [],
            positions: taken.map { Position(lane: timeline.lane, offset: $0.offset) }
        )
    }

    /// The smallest difference in milliseconds between two ends that no format explains.
    private static let roundingMax: Int64 = 60_000

    // The fullest window counts, or the first of equal ones.
    private static func loop(
        in changes: [PlanChange],
        _ refunds: [RefundCase],
        of timeline: Timeline,
        _ limits: AnomalyLimits
    ) -> StreamAnomaly? {
        let immediate = changes.filter(\.isLooping).compactMap { change in
            change.effective.map { (at: $0, change: change) }
        }.sorted { $0.at < $1.at }

        var best = 0..<0
        var start = 0
        for end in immediate.indices {
            let last = immediate[end].at.milliseconds
            while last - immediate[start].at.milliseconds > limits.loopWindow { start += 1 }
            if end + 1 - start > best.count { best = start..<(end + 1) }
        }
        guard best.count >= limits.loopChangesMin, let first = immediate[best].first,
            let last = immediate[best].last
        else { return nil }

        let given = refunds.filter { row in
            row.isNet
                && row.revoked.map { first.at <= $0 && $0 <= last.at.afterReplacement } ?? false
        }
        return StreamAnomaly(
            timeline,
            .refundLoop,
            count: best.count,
            from: first.at,
            to: last.at,
            given,
            positions: immediate[best].flatMap(\.change.positions)
        )
    }

    private static func again(
        _ refunds: [RefundCase],
        of timeline: Timeline,
        _ limits: AnomalyLimits
    ) -> [StreamAnomaly] {
        refunds.filter { $0.isNet && $0.kind != .seats }.compactMap { net in
            // Seats are refunded one after the other, which is nothing to check.
            let cases = refunds.filter {
                $0.subject == net.subject && $0.kind != nil && $0.kind != .seats
            }
            guard cases.count >= limits.refundsOfPurchaseMin,
                let first = cases.first.flatMap(\.statedAt),
                let last = cases.last.flatMap(\.statedAt)
            else { return nil }
            return StreamAnomaly(
                timeline,
                .refundedAgain,
                count: cases.count,
                from: first,
                to: last,
                [net],
                positions: cases.flatMap(\.positions)
            )
        }
    }

    private static func everything(
        of timeline: Timeline,
        _ refunds: [RefundCase],
        _ limits: AnomalyLimits
    ) -> StreamAnomaly? {
        let net = refunds.filter { $0.isNet && $0.state == .refunded }
        var given: [RefundCase] = []
        for subject in timeline.subjects where timeline.purchase(subject).isPaid {
            let own = net.filter { $0.subject == subject }
            // The rest of a replaced period was refunded because of another purchase, which counts
            // itself.
            if timeline.purchase(subject).isUpgraded || own.last?.kind == .replaced { continue }
            guard own.areWhole, let last = own.last else { return nil }
            given.append(last)
        }
        let dates = given.compactMap(\.revoked).sorted()
        guard given.count >= limits.everythingPurchasesMin, let first = dates.first,
            let last = dates.last
        else { return nil }
        return StreamAnomaly(
            timeline,
            .everythingRefunded,
            count: given.count,
            from: first,
            to: last,
            given,
            positions: given.flatMap(\.positions)
        )
    }
}

extension Purchase {
    // An unknown price counts as paid: payloads contain it only since 2023-10.
    fileprivate var isPaid: Bool {
        var citations = Citations()
        return amount(citing: &citations) != 0 && kind(citing: &citations) != .trial
            && sharing(citing: &citations) == nil
    }
}

extension StreamAnomaly {
    fileprivate init(
        _ timeline: Timeline,
        _ kind: Kind,
        count: Int,
        from: Instant,
        to: Instant,
        _ refunds: [RefundCase],
        positions: [Position]
    ) {
        originalTransactionId = timeline.stream.originalTransactionId
        environment = timeline.stream.environment
        sharedId = nil
        self.kind = kind
        self.count = count
        let currencies = refunds.compactMap(\.currency)
        let isOne = currencies.allSatisfy { byBytes($0, currencies[0]) == nil }
        currency = isOne ? currencies.first : nil
        // Amounts in several currencies cannot be added up.
        let amounts = isOne ? refunds.compactMap(\.refundedMilliunits) : []
        givenMilliunits =
            amounts.isEmpty
            ? nil
            : amounts.reduce(0) { sum, amount in
                let (total, overflow) = sum.addingReportingOverflow(amount)
                return overflow ? .max : total
            }
        self.from = from
        self.to = to
        var citations = Citations()
        citations.cite(positions)
        self.positions = citations.positions(lane: timeline.lane)
    }
}

extension PlanChange {
    // Without a catalog, every change that refunds the rest of the old period may be one.
    fileprivate var isLooping: Bool {
        guard state == .effective, refundsPrevious else { return false }
        switch changeClass {
        case .crossgrade: return hasSameDuration == true
        case .planChange: return true
        case .upgrade, .downgrade: return false
        }
    }
}

extension RefundCase {
    fileprivate var statedAt: Instant? { announced ?? reversed }

    fileprivate var isWhole: Bool {
        switch kind {
        case .full: true
        case .untyped where percentageMilli == nil: true
        case .prorated, .items, .seats, .untyped:
            refundedMilliunits != nil && refundedMilliunits == priceMilliunits
        case .familyRevoke, .assignmentEnded, .bundled, .replaced, nil: false
        }
    }
}

extension [RefundCase] {
    /// Whether they refund the whole purchase together.
    fileprivate var areWhole: Bool {
        if contains(where: \.isWhole) { return true }
        let given = compactMap(\.refundedMilliunits)
        guard let price = last?.priceMilliunits, given.count == count else { return false }
        var sum: Int64 = 0
        for amount in given {
            let (total, overflow) = sum.addingReportingOverflow(amount)
            if overflow { return false }
            sum = total
        }
        return sum == price
    }
}

extension Instant {
    fileprivate var afterReplacement: Instant {
        Instant(milliseconds: milliseconds + Cut.refundWindow)
    }
}
