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
        let progress = Progress("ingest", isQuiet: isQuiet)
        for arrival in arrivals {
            clock.set(arrival.arrivesAt)
            let ingestion = try await deliver(arrival, to: ledger)
            counts.payloads += 1
            for outcome in ingestion.outcomes {
                if outcome.isNew { counts.appended += 1 } else { counts.known += 1 }
            }
            progress.report(counts.payloads, "payload")
        }
        progress.finish()
        return counts
    }

    /// Ingests each at its time of arrival while the clock runs; what arrived before it began to
    /// run comes at once.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - start: When the clock begins to run.
    ///   - ingested: Called after each payload, with when it arrived.
    /// - Throws: What ingesting throws; `CancellationError`.
    func ingest(
        into ledger: Ledger,
        runningFrom start: Instant,
        _ ingested: (Ledger.Ingestion, Instant) -> Void
    ) async throws {
        for arrival in arrivals {
            if arrival.arrivesAt < start {
                clock.set(arrival.arrivesAt)
            } else {
                clock.run(from: start)
                try await clock.sleep(until: arrival.arrivesAt)
            }
            try Task.checkCancellation()
            ingested(try await deliver(arrival, to: ledger), arrival.arrivesAt)
        }
        clock.run(from: start)
    }

    /// The channel of all of them, that of the service.
    static let source = "notification"

    private func deliver(
        _ arrival: DeliverySchedule.Arrival,
        to ledger: Ledger
    ) async throws -> Ledger.Ingestion {
        try await ledger.ingest(
            arrival.delivery.payload,
            source: DemoDeliveries.source,
            receivedAt: arrival.arrivesAt
        )
    }
}

/// The counts of the deliveries.
struct DemoCounts {
    var payloads = 0
    var appended = 0
    var known = 0
}

/// The clock of the demo's ledger, which shows the time of the simulation: it stands, or runs fast
/// until it reaches the present.
final class DemoClock: Sendable {
    private enum State {
        case standing(Instant)
        case running(from: Instant, since: ContinuousClock.Instant)
    }

    private let state = Mutex(State.standing(.epoch))

    /// How much faster than real time it runs: a day takes two seconds.
    static let speed: Int64 = 43_200

    /// The longest wait before the time is looked at again, in milliseconds.
    private static let waitMax: Int64 = 60_000

    func set(_ now: Instant) { state.withLock { $0 = .standing(now) } }

    /// Lets it run from an instant, unless it runs already.
    func run(from start: Instant) {
        state.withLock { state in
            if case .standing = state { state = .running(from: start, since: .now) }
        }
    }

    var now: Instant {
        switch state.withLock({ $0 }) {
        case .standing(let instant): return instant
        case .running(let start, let since):
            let passed = Int64((ContinuousClock.now - since) / .milliseconds(1))
            let shown = Instant(milliseconds: start.milliseconds + passed * DemoClock.speed)
            return min(shown, .systemClock())
        }
    }

    /// Waits until the running clock shows an instant.
    func sleep(until instant: Instant) async throws {
        while true {
            let rest = instant.milliseconds - now.milliseconds
            guard rest > 0 else { return }
            let wait = min(rest / DemoClock.speed + 1, DemoClock.waitMax)
            try await Task.sleep(for: .milliseconds(wait))
        }
    }
}
