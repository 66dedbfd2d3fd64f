import AppStore
import AppStoreSimulator
import Events
import Projections
import Synchronization
import TestSupport
import Testing

/// One purchase in every format is one period (issue: ten years of history).
///
/// Old formats are vouched for, as a team does with its own archive.
@Suite struct CrossFormatTests {
    private static let seed: UInt64 = 20_261_122

    /// Lives in each test; the kinds of lives occur several times among them.
    private static let lives = 100

    @Test func `signed payloads give the whole truth next to any old format`()
        async throws
    {
        let simulator = AppStoreSimulator(seed: Self.seed)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<Self.lives) { index in
            let life = simulator.life(index)
            let delivered = try DeliveredFacts(life.deliveries() + life.polls(), verifier)
            var generator = TestSupport.SeededGenerator(seed: UInt64(index) ^ Self.seed)
            // If the customer ends a grace, it is over when Apple reports it, and V1 and text dates
            // put that moment a little earlier.
            let isTimed = life.kinds.contains(.cancelledInGrace)
            return try OldFormat.allCases.compactMap { format in
                guard !isTimed || format != .statusUpdate else { return nil }
                let styles = format.style(of: Int.random(in: 0..<(1 << 13), using: &generator))
                    .subtracting(isTimed ? .textDatesOnly : [])
                let old = try DeliveredFacts(format.deliveries(of: life, style: styles), verifier)
                let some = old.sample(using: &generator)
                return (delivered + some).difference(
                    life,
                    by: "V2, polls and \(format) in style \(styles.rawValue)",
                    seed: UInt64(index)
                )
            }
        }
        #expect(differences.isEmpty, "seed \(Self.seed): \(Histories.summary(differences))")
    }

    @Test func `verifyReceipt responses alone give every period they can contain`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 1)
        let verifier = try simulator.verifier()
        let differences = try await Histories.each(0..<Self.lives) { index in
            let life = simulator.life(index)
            // No old format contains a win-back offer, which is younger than all of them.
            guard !life.kinds.contains(.winBackOffer) else { return [] }
            let delivered = try DeliveredFacts(life.verifyReceiptPolls(), verifier)
            return [delivered.difference(life, by: "verifyReceipt", seed: 7)].compactMap { $0 }
        }
        #expect(differences.isEmpty, "seed \(Self.seed &+ 1): \(Histories.summary(differences))")
    }

    @Test func `version 1 notifications alone give every period they can contain`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 3)
        let verifier = try simulator.verifier()
        let count = Atomic<Int>(0)
        let differences = try await Histories.each(0..<Self.lives * 3) { index in
            let life = simulator.life(index)
            guard life.kinds.isDisjoint(with: Self.unknownToVersion1), !life.identity.isFamilyShared
            else { return [] }
            count.add(1, ordering: .relaxed)
            let delivered = try DeliveredFacts(life.statusUpdateNotifications(), verifier)
            let found = delivered.ledger(of: life, seed: 9).periods(of: life.stream).rows
                .map { SimulatedPeriod($0) }
            // Periods that ended silently: such a body contains nothing about the time after it.
            let isSame =
                found.map(\.withoutEnding) == life.periods.map(\.withoutEnding)
            return isSame
                ? []
                : [
                    "life \(index) \(life.kinds.map(\.rawValue).sorted()): "
                        + "\(life.periods) and \(found)"
                ]
        }
        #expect(differences.isEmpty, "seed \(Self.seed &+ 3): \(Histories.summary(differences))")
        #expect(count.load(ordering: .relaxed) > 50)
    }

    // Events that version 1 has no type for and no later body repeats (Apple's data: version 1
    // types).
    private static let unknownToVersion1: Set<LifeKind> = [
        .winBackOffer, .extended, .cancelledInGrace, .refundReversed, .refundReversedSilently,
    ]

    @Test func `formats with less information repeat known facts and add no event`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed &+ 2)
        let verifier = try simulator.verifier()
        for index in 0..<60 {
            let life = simulator.life(index)
            let end = try #require(life.deliveries().map(\.signedAt).max())
            let later = Instant(milliseconds: end.milliseconds + 60_000)
            var ledger = MemoryLedger()
            let known = try DeliveredFacts(life.deliveries() + life.history(asOf: later), verifier)
            known.append(to: &ledger)
            let receipt = Delivery(
                channel: .appReceipt,
                payload: life.appReceipt(
                    asOf: Instant(milliseconds: later.milliseconds + 60_000)
                ),
                signedAt: later
            )
            let news = try DeliveredFacts([receipt], verifier).append(to: &ledger)
            #expect(news.isEmpty, "life \(index) of seed \(Self.seed &+ 2): \(news)")
        }
    }
}

/// The formats before JWS.
private enum OldFormat: CaseIterable {
    case verifyReceipt, singleReceipt, appReceipt, statusUpdate

    func deliveries(of life: SubscriptionLife, style: ReceiptStyle) -> [Delivery] {
        switch self {
        case .verifyReceipt: life.verifyReceiptPolls(style: style)
        case .appReceipt: life.appReceipts()
        case .statusUpdate: life.statusUpdateNotifications(style: style)
        case .singleReceipt:
            life.verifyReceiptPolls().enumerated().compactMap { number, poll in
                life.verifyReceiptResponse(
                    ofPurchase: number,
                    asOf: poll.signedAt,
                    style: style
                ).map {
                    Delivery(channel: .verifyReceipt, payload: $0, signedAt: poll.signedAt)
                }
            }
        }
    }

    /// A style drawn from those that change the form but not the content.
    func style(of number: Int) -> ReceiptStyle {
        let drawn = ReceiptStyle(rawValue: number)
        let style = drawn.intersection([
            .realBooleans, .numericIds, .textDatesOnly, .emptyTexts, .nullDownloadId,
            .withoutLineItemIds, .excludeOldTransactions, .restoredIds,
        ])
        guard self == .statusUpdate, drawn.contains(.legacyNotification) else { return style }
        // Without both, a body of that time would contain nothing at all.
        return style.union(.legacyNotification).union(drawn.intersection(.withoutUnifiedReceipt))
    }
}

extension SimulatedPeriod {
    /// The same, without whether it is known to be over.
    fileprivate var withoutEnding: String {
        let reason = endReason == .open ? EndReason.expired : endReason
        return "\(productId) \(purchaseDate) \(expiresDate) \(validFrom) \(validTo)"
            + " \(kind) \(reason)"
    }
}
