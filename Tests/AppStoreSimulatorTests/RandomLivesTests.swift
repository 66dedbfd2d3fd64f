import AppStoreSimulator
import Events
import Testing

/// Laws that every life drawn from a seed keeps.
@Suite struct RandomLivesTests {
    @Test func `the first 200 lives of seed 1 include every kind of life`() {
        var seen: [LifeKind: Int] = [:]
        for life in AppStoreSimulator(seed: 1).lives(200) {
            for kind in life.kinds { seen[kind, default: 0] += 1 }
        }
        let missing = LifeKind.allCases.filter { seen[$0] == nil }
        #expect(missing.isEmpty, "missing of seed 1: \(missing)")
    }

    @Test func `the truth of 2000 lives is ordered, within bounds and without overlaps`() throws {
        let seed: UInt64 = 20_261_121
        for life in AppStoreSimulator(seed: seed).lives(2000) {
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
