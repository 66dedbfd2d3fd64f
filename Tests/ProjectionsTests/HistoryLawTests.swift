import Events
import Synchronization
import TestSupport
import Testing

@testable import Projections

/// The laws of every projection over thousands of random histories (Concepts: promises).
///
/// `SUBLEDGER_HISTORIES` asks for more of them (`make laws`). A history's number is its seed.
@Suite struct HistoryLawTests {
    @Test func `no order, repetition or batch of arrival changes a row of any projection`()
        async throws
    {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1500)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let facts = random.facts(Int.random(in: 1...16, using: &random.random))
            let rows = MemoryLedger([facts]).rowsByProjection
            return (0..<2).flatMap { _ -> [String] in
                let other = MemoryLedger(random.deliveries(of: facts)).rowsByProjection
                return zip(allProjections, zip(rows, other)).compactMap { projection, both in
                    both.0 == both.1 ? nil : "seed \(number): \(projection.name)"
                }
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `what is followed batch by batch has the digest of what is folded at once`()
        async throws
    {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let facts = random.facts(Int.random(in: 2...16, using: &random.random))
            var followed = FollowedDigests()
            for batch in random.deliveries(of: facts) { followed.follow(batch) }
            let fresh = FollowedDigests(MemoryLedger([facts]))
            return zip(allProjections, zip(followed.digests, fresh.digests)).compactMap {
                projection,
                both in
                both.0.digest == both.1.digest && both.0.rowCount == both.1.rowCount
                    ? nil : "seed \(number): \(projection.name)"
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `repetitions between two that say the same change no row`() async throws {
        let left = Atomic<Int>(0)
        let broken = try await Histories.each(Histories.numbers(unlessTold: 2000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let facts = random.facts(Int.random(in: 1...8, using: &random.random))
            let polls = (0..<40).map { _ in random.poll(of: facts) }
            let ledger = MemoryLedger([facts, polls.shuffled(using: &random.random)])
            return ledger.streams.flatMap { stream -> [String] in
                let history = ledger.history(of: stream)
                let thinned = history.thinned
                left.add(
                    history.confirmations.count - thinned.confirmations.count,
                    ordering: .relaxed
                )
                return allProjections.compactMap { projection in
                    let (all, some) = (Timeline(history), Timeline(thinned))
                    let isSame =
                        projection.acceptedRows(of: all, in: .lawful).map(\.canonicalBytes)
                        == projection.acceptedRows(of: some, in: .lawful).map(\.canonicalBytes)
                    return isSame ? nil : "seed \(number): \(projection.name)"
                }
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
        #expect(left.load(ordering: .relaxed) > 1000)
    }

    @Test func `rows cite events of their own subscription, ascending, each once`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let ledger = MemoryLedger([random.facts(20)])
            return ledger.streams.flatMap { stream -> [String] in
                let known = Set(ledger.events.filter { $0.fact.stream == stream }.map(\.position))
                let timeline = ledger.timeline(of: stream)
                return allProjections.flatMap { projection in
                    projection.acceptedRows(of: timeline, in: .lawful).compactMap { row in
                        let isRight =
                            !row.positions.isEmpty && known.isSuperset(of: row.positions)
                            && row.positions == Set(row.positions).sorted()
                            && row.values.count == projection.columns.count
                        return isRight ? nil : "seed \(number): \(projection.name)"
                    }
                }
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `states never overlap, nor does the access that one purchase gives`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let ledger = MemoryLedger([random.facts(20)])
            return ledger.streams.flatMap { stream -> [String] in
                let timeline = ledger.timeline(of: stream)
                let states = RenewalStates(timeline).rows
                let areApart = zip(states, states.dropFirst()).allSatisfy { row, next in
                    row.validTo.map { $0 <= next.validFrom } ?? false
                }
                let periods = ActivePeriods(timeline).rows
                let isAccessApart = periods.indices.allSatisfy { index in
                    periods[(index + 1)...].allSatisfy { other in
                        other.isApart(from: periods[index])
                            // Of two graces, one may follow an assigned seat of the same second.
                            || other.kind == .grace && periods[index].kind == .grace
                                && periods.contains {
                                    $0.kind == .assigned && $0.hasSameKey(as: other)
                                }
                    }
                }
                return (areApart ? [] : ["seed \(number): renewal_states"])
                    + (isAccessApart ? [] : ["seed \(number): active_periods"])
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    @Test func `refunds, transactions and movements show the same money`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let ledger = MemoryLedger([random.facts(20)])
            return ledger.streams.flatMap { stream -> [String] in
                let timeline = ledger.timeline(of: stream)
                let transactions = TransactionRows(timeline, .lawful).rows
                let refunds = Refunds(timeline).rows
                let purchases =
                    timeline.purchases.reduce(timeline.oneTimePurchases.count) {
                        $0 + 1 + $1.additions.count
                    }
                var broken: [String] = []
                if transactions.count != purchases { broken.append("transactions") }
                let acquired = Movements(timeline, .lawful).rows.count(where: \.kind.isAcquisition)
                if acquired != purchases { broken.append("movements") }
                let changes = PlanChanges(timeline, .lawful).rows.count { $0.effective != nil }
                let starts = timeline.purchases.reduce(0) { $0 + 1 + $1.additions.count }
                if changes > max(0, starts - 1) { broken.append("plan_changes") }
                // Several refunds of seats are of one transaction.
                let undated: [RefundCase.Kind?] = [.replaced, .bundled, .assignmentEnded]
                let dated = refunds.filter { row in
                    row.isNet && (row.state == .refunded || row.state == .revoked)
                        && !undated.contains(row.kind)
                }
                let refunded = Set(dated.map(\.subject)).count
                if transactions.count(where: { $0.fate.refunded != nil }) != refunded {
                    broken.append("refunded_at")
                }
                return broken.map { "seed \(number): \($0)" }
            }
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }
}

/// The digests of all projections, kept as a follower keeps them: a stream that changed has its
/// old rows taken away and its new ones added.
private struct FollowedDigests {
    private var ledger = MemoryLedger()
    private(set) var digests = allProjections.map { _ in ProjectionDigest() }

    init() {}

    init(_ ledger: MemoryLedger) {
        self.ledger = ledger
        for stream in ledger.streams { change(stream) { $0.add($1, of: stream) } }
    }

    mutating func follow(_ batch: [Fact]) {
        let touched = Set(batch.map(\.stream)).sorted()
        for stream in touched { change(stream) { $0.remove($1, of: stream) } }
        ledger.append(batch)
        for stream in touched { change(stream) { $0.add($1, of: stream) } }
    }

    private mutating func change(
        _ stream: StreamID,
        _ body: (inout ProjectionDigest, [ProjectionRow]) -> Void
    ) {
        let timeline = ledger.timeline(of: stream)
        for (index, projection) in allProjections.enumerated() {
            body(&digests[index], projection.acceptedRows(of: timeline, in: .lawful))
        }
    }
}

extension MemoryLedger {
    /// The canonical bytes of all rows, projection by projection.
    fileprivate var rowsByProjection: [[[UInt8]]] {
        let timelines = streams.map { timeline(of: $0) }
        return allProjections.map { projection in
            timelines.flatMap { projection.acceptedRows(of: $0, in: .lawful).map(\.canonicalBytes) }
        }
    }
}

extension FoldContext {
    /// One catalog for all laws, so that changes have a class and a length.
    static let lawful = FoldContext(catalogs: .lawful)
}

extension CatalogHistory {
    static let lawful = CatalogHistory([
        ProductCatalog(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: ["a", "b"].enumerated().compactMap { level, product in
                SubscriptionPeriod("P1M").map {
                    ProductCatalog.Subscription(
                        productId: product,
                        subscriptionGroupIdentifier: "g",
                        level: level + 1,
                        duration: $0
                    )
                }
            }
        )
    ])
}

extension ActivePeriod {
    /// Whether it is of another purchase, or at another time.
    fileprivate func isApart(from other: ActivePeriod) -> Bool {
        !isOfSamePurchase(as: other) || validTo <= other.validFrom || other.validTo <= validFrom
    }

    // A seat that was assigned runs next to what was bought in the same second.
    private func isOfSamePurchase(as other: ActivePeriod) -> Bool {
        (kind == .assigned) == (other.kind == .assigned) && hasSameKey(as: other)
    }

    fileprivate func hasSameKey(as other: ActivePeriod) -> Bool {
        purchaseDate == other.purchaseDate && expiresDate == other.expiresDate
            && productId.utf8.elementsEqual(other.productId.utf8)
    }
}

extension Movement.Kind {
    fileprivate var isAcquisition: Bool {
        switch self {
        case .offerStart, .paidStart, .offerRenewal, .conversion, .renewal, .seatsAdded,
            .oneTimePurchase:
            true
        default: false
        }
    }
}

extension StreamHistory {
    /// The same without the repetitions that a scan leaves out.
    fileprivate var thinned: StreamHistory {
        var runs = RepetitionRuns(events)
        var kept: [Events.Confirmation] = []
        for next in confirmations.sorted(by: { $0.asOf < $1.asOf }) {
            if let place = runs.placeToReuse(for: next, at: kept.count, floor: next.asOf) {
                kept[place] = next
            } else {
                kept.append(next)
            }
        }
        var thinned = self
        thinned.confirmations = kept
        return thinned
    }
}
