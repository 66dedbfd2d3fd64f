import AppStoreSimulator
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger
import Synchronization

/// The payloads that the synthetic App Store sends over the years, delivered like those of the real
/// one: most of them within seconds, some of them hours or days late, some twice.
struct DemoDeliveries {
    private let arrivals: [DeliverySchedule.Arrival]
    private let clock: DemoClock

    /// The deliveries of the first lives that have arrived by now.
    init(of simulator: AppStoreSimulator, subscriptions: Int, clock: DemoClock) {
        let sent = Array(simulator.sampleHistory(count: subscriptions))
            .disordered(seed: simulator.seed)
        let now = Instant.systemClock()
        arrivals = DeliverySchedule(of: sent, seed: simulator.seed, keepsOrder: false).arrivals
            .filter { $0.arrivesAt <= now }
        self.clock = clock
    }

    /// When the first one arrives.
    var start: Instant { arrivals.first?.arrivesAt ?? .systemClock() }

    /// How many of them have one of these delays.
    func count(of fates: Set<DeliverySchedule.Fate>) -> Int {
        arrivals.count { fates.contains($0.fate) }
    }

    /// Ingests each at its time of arrival, one after the other, as a service does.
    func ingest(into ledger: Ledger, isQuiet: Bool) async throws -> DemoCounts {
        var counts = DemoCounts()
        var progress = Progress("ingest", isQuiet: isQuiet)
        for arrival in arrivals {
            clock.set(arrival.arrivesAt)
            let ingestion = try await ledger.ingest(
                arrival.delivery.payload,
                source: "notification",
                receivedAt: arrival.arrivesAt
            )
            counts.payloads += 1
            for outcome in ingestion.outcomes {
                if outcome.isNew { counts.appended += 1 } else { counts.known += 1 }
            }
            progress.report(counts.payloads, "payload")
        }
        progress.finish()
        return counts
    }
}

/// The counts of the deliveries.
struct DemoCounts {
    var payloads = 0
    var appended = 0
    var known = 0
}

/// The clock of the demo's ledger, which shows the time of the simulation.
final class DemoClock: Sendable {
    private let instant = Mutex(Instant.epoch)

    func set(_ now: Instant) { instant.withLock { $0 = now } }

    var now: Instant { instant.withLock { $0 } }
}
