import AppStoreSimulator
import Events
import Projections
import Testing

/// Laws that every life drawn from a seed keeps.
@Suite struct RandomLivesTests {
    private static let extraKinds: Set<LifeKind> = [
        .retentionOffer, .seatsBought, .seatsAdded, .seatsReduced, .seatsRaised, .seatsRefunded,
        .additionRefunded, .seatsUnclaimed, .assigned, .assignmentEnded, .movedToBundle, .inBundle,
        .leftBundle, .unbundled,
    ]

    @Test func `the first 200 lives of seed 1 include every kind of life without extras`() {
        let seen = Set(AppStoreSimulator(seed: 1).lives(200).flatMap(\.kinds))
        #expect(seen == Set(LifeKind.allCases).subtracting(Self.extraKinds))
    }

    @Test func `the first 400 lives of an app with extras include every kind of life`() {
        let seen = Set(AppStoreSimulator(seed: 1, extras: .all).lives(400).flatMap(\.kinds))
        #expect(seen == Set(LifeKind.allCases))
    }

    @Test func `the truth of 2000 lives is ordered, within bounds and without overlaps`() throws {
        let seed: UInt64 = 20_261_121
        let plain = AppStoreSimulator(seed: seed).lives(2000)
        let withExtras = AppStoreSimulator(seed: seed, extras: .all).lives(2000)
        for life in Array(plain) + Array(withExtras) {
            let name = "life \(life.identity.index) of seed \(seed)"
            let periods = life.periods
            #expect(!periods.isEmpty, "\(name)")
            #expect(periods == periods.sorted(), "\(name)")
            for period in periods {
                #expect(period.validFrom <= period.validTo, "\(name): \(period)")
                if period.kind == .grace {
                    #expect(period.validFrom == period.expiresDate, "\(name): \(period)")
                } else {
                    #expect(period.validFrom == period.purchaseDate, "\(name): \(period)")
                    #expect(period.validTo <= period.expiresDate, "\(name): \(period)")
                }
            }
            for (earlier, later) in zip(periods, periods.dropFirst()) {
                #expect(earlier.validTo <= later.validFrom, "\(name): \(earlier) and \(later)")
            }
            let open = periods.filter { $0.endReason == .open }
            #expect(open.count <= 1, "\(name)")
            if let only = open.first {
                let horizon = try #require(life.horizon)
                #expect(only == periods.max { $0.validTo < $1.validTo }, "\(name)")
                #expect(only.validTo > horizon, "\(name)")
            }
            for (earlier, later) in zip(life.active, life.active.dropFirst()) {
                #expect(earlier.to < later.from, "\(name)")
            }
        }
    }

    @Test func `events are in true order and each is signed before the next`() {
        let seed: UInt64 = 7
        for life in AppStoreSimulator(seed: seed).lives(300) {
            for (earlier, later) in zip(life.events, life.events.dropFirst()) {
                #expect(
                    earlier.happenedAt < earlier.signedAt && earlier.signedAt < later.happenedAt,
                    "life \(life.identity.index) of seed \(seed)"
                )
            }
        }
    }
}
