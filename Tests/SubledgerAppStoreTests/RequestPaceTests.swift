import Events
@testable import SimulatedStoreService
@testable import SubledgerAppStore
import Testing

/// How a client settles below a limit that it shares with others, in simulated time.
@Suite struct RequestPaceTests {
    private struct Counts: Equatable {
        var accepted = 0
        var refused = 0
        var seconds = 0.0
    }

    /// An answer that is on its way.
    private struct Refusal {
        let sent: ContinuousClock.Instant
        let arrives: ContinuousClock.Instant
        let wait: Duration
    }

    /// A client at Apple's whole limit, and the simulated store at a share of it.
    private struct Meeting {
        let limit: RateLimit
        /// From a request to its answer, so several are in progress together.
        let latency: Duration
        private let start = ContinuousClock.now
        private var now: ContinuousClock.Instant
        private var pace: RequestPace
        private var refusals: [Refusal] = []

        init(share: Double, latency: Duration) {
            limit = RateLimit(share: share)
            self.latency = latency
            (now, pace) = (start, RequestPace(at: start))
        }

        /// Sends requests until that many were accepted.
        mutating func send(_ count: Int) -> Counts {
            var counts = Counts()
            let begin = now
            while counts.accepted < count {
                let slot = pace.slot(at: now)
                if let first = refusals.first, first.arrives <= slot {
                    refusals.removeFirst()
                    now = max(now, first.arrives)
                    pace.hold(for: first.wait, sent: first.sent, at: now)
                    continue
                }
                pace.take(slot, rate: RateLimit.Endpoint.statuses.perSecond, at: now)
                now = slot
                let time = Instant(milliseconds: Int64((now - start) / .milliseconds(1)))
                if let allowed = limit.refusal(.statuses, .production, at: time) {
                    counts.refused += 1
                    let wait = Duration.milliseconds(allowed.milliseconds - time.milliseconds)
                    refusals.append(Refusal(sent: now, arrives: now + latency, wait: wait))
                } else {
                    counts.accepted += 1
                }
            }
            counts.seconds = (now - begin) / .seconds(1)
            return counts
        }
    }

    @Test(arguments: [0.5, 0.25, 0.1], [0, 40, 200])
    func `below the need the rate settles, and then nothing is refused`(
        share: Double,
        latency: Int
    ) {
        var meeting = Meeting(share: share, latency: .milliseconds(latency))
        let learning = meeting.send(200)
        let settled = meeting.send(100)
        #expect(learning.refused > 0 && learning.refused < 40)
        #expect(settled.refused <= 1)
        // It is slower than the limit, and not by much.
        let need = 100 / (RateLimit.Endpoint.statuses.perSecond * share)
        #expect(settled.seconds >= need * 0.9 && settled.seconds < need * 3)
    }

    @Test func `a limit that is not reached slows nothing`() {
        var meeting = Meeting(share: 1, latency: .milliseconds(40))
        let sent = meeting.send(500)
        #expect(sent.refused == 0)
        #expect(abs(sent.seconds - 10) < 0.1)
    }
}
