internal import EventLog
internal import Events
internal import Logging
internal import Subledger

/// Measures how long access was answered wrongly because payloads arrived late.
///
/// Runs next to the requests, one subscription after the other, with a rest after each: if
/// everything that Apple sends is late, as after an outage, requests keep the processors.
actor LatenessMeter {
    private let ledger: Ledger
    private let metrics: ServiceMetrics
    private let outages: OutageLog
    private var waiting: [Late] = []
    private var isWorking = false

    /// Seconds after which a payload is late: timely ones from Apple take one or two.
    private static let lateSecondsMin: Int64 = 60
    /// The most subscriptions that wait to be measured; more are only counted.
    private static let waitingMax = 10_000
    /// The ratio of the meter's rest to the preceding measurement.
    private static let restFactor = 4

    private struct Late {
        let stream: StreamID
        var offsets: ClosedRange<Int64>
    }

    init(_ ledger: Ledger, _ metrics: ServiceMetrics, _ outages: OutageLog) {
        self.ledger = ledger
        self.metrics = metrics
        self.outages = outages
    }

    /// Measures the effect of a payload, if it arrived late.
    nonisolated func take(_ ingestion: Ledger.Ingestion, at receivedAt: Instant) {
        var late: [StreamID: Late] = [:]
        for (fact, outcome) in zip(ingestion.facts, ingestion.outcomes) where outcome.isNew {
            let age = receivedAt.milliseconds - fact.asOf.milliseconds
            guard age >= LatenessMeter.lateSecondsMin * 1000 else { continue }
            let offset = outcome.position.offset
            let known = late[fact.stream]?.offsets ?? offset...offset
            late[fact.stream] = Late(
                stream: fact.stream,
                offsets: min(known.lowerBound, offset)...max(known.upperBound, offset)
            )
        }
        guard !late.isEmpty else { return }
        let all = Array(late.values)
        Task { await add(all) }
    }

    private func add(_ late: [Late]) async {
        let room = max(0, LatenessMeter.waitingMax - waiting.count)
        waiting += late.prefix(room)
        metrics.countNotMeasured(max(0, late.count - room))
        guard !isWorking else { return }
        isWorking = true
        while !waiting.isEmpty {
            let start = ContinuousClock.now
            await measure(waiting.removeFirst())
            let rest = (ContinuousClock.now - start) * LatenessMeter.restFactor
            // Cancellation only ends a rest early.
            do { try await Task.sleep(for: rest) } catch { continue }
        }
        isWorking = false
    }

    private func measure(_ late: Late) async {
        do {
            let seconds = try await ledger.wrongSeconds(
                of: late.stream,
                revealedBy: late.offsets,
                firstCommit: try await ledger.log.firstCommittedAt()
            )
            metrics.countWrong(denied: seconds.denied, granted: seconds.granted)
        } catch {
            metrics.countNotMeasured(1)
            outages.log("lateness was not measured", error)
        }
    }
}
