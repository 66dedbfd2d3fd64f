@testable import AppStoreSimulator
import Events
import Projections
import Testing

/// Lives that are controlled while they run.
@Suite struct DirectedLifeTests {
    private static let start = Instant(milliseconds: 1_704_067_200_000)  // 2024-01-01
    private static let day: Int64 = 86_400_000

    private static func day(_ number: Int64, hour: Int64 = 0) -> Instant {
        Instant(milliseconds: start.milliseconds + number * day + hour * 3_600_000)
    }

    private static func life(_ index: Int64 = 1) throws -> DirectedLife {
        try DirectedLife(
            identity: LifeIdentity(seed: 1, index: index),
            store: AppStoreSimulator(seed: 1).store,
            buying: SimulatedCatalog.lumen[2],
            offer: nil,
            at: start
        )
    }

    private static func product(_ name: String) throws -> SimulatedProduct {
        try #require(SimulatedCatalog.lumen.first { $0.id.hasSuffix(name) })
    }

    private static func periods(_ life: DirectedLife, on day: Int64) -> [String] {
        life.life.periods(asOf: Self.day(day)).map {
            let from = ($0.validFrom.milliseconds - start.milliseconds) / Self.day
            let to = ($0.validTo.milliseconds - start.milliseconds) / Self.day
            return "\(from)–\(to) \($0.kind.rawValue) \($0.endReason.rawValue)"
        }
    }

    @Test func `without decisions a life renews by itself and ends after its last renewal`()
        throws
    {
        let life = try Self.life()
        #expect(Self.periods(life, on: 40) == ["0–31 paid expired", "31–60 paid open"])
        #expect(life.life.periods.count == 1 + DirectedLife.renewalsMax)
        #expect(life.life.periods.last?.endReason == .expired)
    }

    @Test func `a failed charge goes through grace and retry, and may recover`() throws {
        var life = try Self.life()
        try life.decide(.failBilling(graceDays: 16), at: Self.day(5))
        #expect(
            Self.periods(life, on: 32) == ["0–31 paid expired", "31–47 grace open"]
        )
        var recovered = life
        try recovered.decide(.recoverBilling, at: Self.day(40))
        #expect(
            Self.periods(recovered, on: 41) == ["0–31 paid expired", "31–60 paid open"]
        )
        #expect(Self.periods(life, on: 50) == ["0–31 paid expired", "31–47 grace expired"])
        try life.decide(.recoverBilling, at: Self.day(50))
        #expect(
            Self.periods(life, on: 51)
                == ["0–31 paid expired", "31–47 grace expired", "50–79 paid open"]
        )
        var failed = try Self.life()
        try failed.decide(.failBilling(graceDays: nil), at: Self.day(5))
        #expect(failed.life.status(asOf: Self.day(60))?.status == .billingRetry)
        #expect(failed.life.status(asOf: Self.day(95))?.status == .expired)
    }

    @Test func `refunds, changes and the end of automatic renewal take effect at the right time`()
        throws
    {
        var life = try Self.life()
        try life.decide(.change(to: try Self.product("pro.monthly")), at: Self.day(10))
        #expect(Self.periods(life, on: 10).first == "0–10 paid upgraded")
        try life.decide(.change(to: try Self.product("basic.monthly")), at: Self.day(12))
        #expect(
            life.life.status(asOf: Self.day(13))?.autoRenewProductId
                == "example.subledger.lumen.basic.monthly"
        )
        try life.decide(.refund(percentage: nil), at: Self.day(20))
        #expect(
            Self.periods(life, on: 21) == ["0–10 paid upgraded", "10–20 paid refunded"]
        )
        #expect(life.life.periods.count == 2, "a refunded subscription continues")
        try life.decide(.reverseRefund, at: Self.day(22))
        try life.decide(.turnAutoRenewOff, at: Self.day(23))
        #expect(Self.periods(life, on: 200).last == "10–41 paid expired")
        #expect(throws: ScriptError.self) {
            try life.decide(.turnAutoRenewOn, at: Self.day(200))
        }
        try life.decide(
            .subscribe(try Self.product("plus.monthly"), offer: nil),
            at: Self.day(200)
        )
        #expect(Self.periods(life, on: 201).count == 3)
    }

    @Test func `no decision changes the past or disturbs automatic steps`() throws {
        let seed: UInt64 = 20_261_123
        for number in 0..<400 {
            var generator = SeededGenerator(seed: seed, branch: UInt64(number))
            var life = try Self.life(Int64(number))
            var now = Self.start
            for _ in 0..<25 {
                // From the same second to half a year later.
                let exponent = generator.integer(in: 0...24)
                now = Instant(
                    milliseconds: now.milliseconds + generator.integer(in: 0...1000 << exponent)
                )
                let decision = Self.decision(&generator)
                let before = life
                do throws(ScriptError) {
                    try life.decide(decision, at: now)
                } catch {
                    #expect(life.life.events == before.life.events, "\(error)")
                }
                let name = "life \(number) of seed \(seed), \(decision) at \(now)"
                let past = before.life.events.prefix { $0.happenedAt <= now }
                #expect(life.life.events.starts(with: past), "\(name)")
                for (earlier, later) in zip(life.life.events, life.life.events.dropFirst()) {
                    #expect(earlier.signedAt < later.happenedAt, "\(name)")
                }
            }
        }
    }

    private static func decision(_ generator: inout SeededGenerator) -> DirectedLife.Decision {
        let product = generator.element(of: SimulatedCatalog.lumen) ?? SimulatedCatalog.lumen[0]
        let grace = generator.chance(percent: 50) ? generator.integer(in: 1...28) : nil
        let decisions: [DirectedLife.Decision] = [
            .subscribe(product, offer: nil), .change(to: product), .turnAutoRenewOff,
            .turnAutoRenewOn, .failBilling(graceDays: grace), .recoverBilling, .expire,
            .refund(percentage: nil), .refund(percentage: 50_000), .reverseRefund, .requestRefund,
            .declineRefund, .extend(days: generator.integer(in: 1...90)),
            .setAppAccountToken("00000000-0000-4000-8000-000000000000"),
        ]
        return generator.element(of: decisions) ?? .expire
    }
}
