import AppStoreSimulator
import Events
import Testing

/// What was known when, and which answers were wrong meanwhile.
@Suite struct DeliveryScheduleTests {
    private let seed: UInt64 = 77

    private func life() throws -> SubscriptionLife {
        try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-02-01")),
            .refund(purchase: 1, percentage: nil, at: at("2026-02-10")),
        ]).life
    }

    @Test func `late deliveries deny paid access and grant refunded access`() throws {
        let life = try life()
        let deliveries = life.deliveries()
        // A hand-written schedule: an hour late, two days late, three days late.
        let hours: [Int64] = [1, 48, 72]
        let schedule = DeliverySchedule(
            zip(deliveries, hours).map { delivery, late in
                DeliverySchedule.Arrival(
                    delivery: delivery,
                    arrivesAt: Instant(
                        milliseconds: delivery.signedAt.milliseconds + late * 3_600_000
                    ),
                    fate: .daysLate
                )
            }
        )
        let signed = life.events.map(\.signedAt.milliseconds)
        let (start, renewal, refund) = try (
            at("2026-01-01").milliseconds, at("2026-02-01").milliseconds,
            at("2026-02-10").milliseconds
        )
        let wrong = life.misservice(by: schedule)
        #expect(
            wrong.denied
                == signed[0] + 3_600_000 - start + signed[1] + 48 * 3_600_000 - renewal
        )
        #expect(wrong.granted == signed[2] + 72 * 3_600_000 - refund)
        #expect(!life.isServed(at: try at("2026-01-01T00:30Z"), by: schedule))
        #expect(life.isServed(at: try at("2026-01-20"), by: schedule))
        #expect(!life.isServed(at: try at("2026-02-02"), by: schedule))
        #expect(life.isServed(at: try at("2026-02-12"), by: schedule))
        #expect(!life.isServed(at: try at("2026-02-14"), by: schedule))
    }

    @Test func `a schedule is determined by its seed, keeps order and loses nothing`() {
        var fates: Set<DeliverySchedule.Fate> = []
        for life in AppStoreSimulator(seed: seed).lives(40) {
            let deliveries = life.deliveries()
            let seed = seed + UInt64(life.identity.index)
            let schedule = DeliverySchedule(of: deliveries, seed: seed)
            #expect(schedule.arrivals == DeliverySchedule(of: deliveries, seed: seed).arrivals)
            #expect(Set(schedule.arrivals.map(\.delivery)) == Set(deliveries))
            for (earlier, later) in zip(schedule.arrivals, schedule.arrivals.dropFirst()) {
                #expect(earlier.arrivesAt <= later.arrivesAt)
                #expect(earlier.delivery.signedAt <= later.delivery.signedAt)
            }
            for arrival in schedule.arrivals {
                #expect(arrival.arrivesAt > arrival.delivery.signedAt)
                fates.insert(arrival.fate)
            }
            let loose = DeliverySchedule(of: deliveries, seed: seed, keepsOrder: false)
            #expect(Set(loose.arrivals.map(\.delivery)) == Set(deliveries))
        }
        #expect(fates.count == DeliverySchedule.Fate.allCases.count)
    }

    @Test func `wrongly served time is summed over every change of truth and knowledge`() {
        for life in AppStoreSimulator(seed: seed).lives(60) {
            let schedule = DeliverySchedule(of: life.deliveries(), seed: seed)
            guard let end = schedule.arrivals.last?.arrivesAt else { continue }
            // Brute force: nothing changes between two of these instants.
            var instants = Set(life.active.flatMap { [$0.from, $0.to] })
            for arrival in schedule.arrivals {
                instants.insert(arrival.arrivesAt)
                for row in life.served(at: arrival.arrivesAt, by: schedule) {
                    instants.formUnion([row.validFrom, row.validTo])
                }
            }
            let ordered = instants.filter { $0 <= end }.sorted()
            var (denied, granted): (Int64, Int64) = (0, 0)
            for (from, to) in zip(ordered, ordered.dropFirst()) {
                let isTrue = life.active.contains { $0.from <= from && from < $0.to }
                let isServed = life.isServed(at: from, by: schedule)
                if isTrue && !isServed { denied += to.milliseconds - from.milliseconds }
                if !isTrue && isServed { granted += to.milliseconds - from.milliseconds }
            }
            #expect(
                life.misservice(by: schedule) == Misservice(denied: denied, granted: granted),
                "life \(life.identity.index) of seed \(seed)"
            )
        }
    }
}
