internal import EventLog
public import Events
internal import Subledger
internal import Synchronization

/// Asks Apple about single customers, unless the question would fail anyway.
///
/// If Apple does not answer, refuses the key or limits the rate, nothing is asked for some time:
/// many customers come at such a time, and each would wait for the same failure. Then a single
/// question tests whether Apple answers again.
public final class Refresher: Sendable {
    private let poller: Poller
    private let state = Mutex(State())

    /// The maximum number of customers to ask about at once; each takes a connection and a place in
    /// the rate limits, which rounds need, too.
    public static let underWayMax = 32
    /// Seconds without questions after Apple refused the key: only the operator can change that.
    static let keyHoldSeconds = 300.0
    /// Seconds without questions after Apple did not answer; doubled after each further failure.
    static let awayHoldSeconds = 30.0
    /// The maximum of these seconds.
    static let awayHoldSecondsMax = 300.0
    /// Seconds without questions about a subscription that Apple refused.
    static let refusalHoldSeconds = 60.0
    /// The maximum number of refused subscriptions to remember; beyond it, all are forgotten.
    static let refusalsMax = 10_000

    /// Creates a refresher.
    ///
    /// - Parameter poller: The poller that asks.
    public init(_ poller: Poller) { self.poller = poller }

    /// The outcome of a refresh.
    public enum Outcome: Sendable {
        /// Apple was asked, or its rate limit does not allow it now.
        case asked(RefreshReport)
        /// Apple answered recently, or another process is asking it now; nil if it has never
        /// answered.
        case recent(answeredAt: Instant?)
        /// Nothing is asked until this time, for this reason.
        case held(until: Instant, why: String)
        /// `underWayMax` customers are being asked about already.
        case busy
    }

    fileprivate struct State {
        var underWay = 0
        var heldUntil = Instant.epoch
        var why = ""
        /// Consecutive questions without an answer.
        var failures = 0
        /// Whether a question is testing if Apple answers again.
        var isTrying = false
        var refusals: [StreamID: (until: Instant, why: String)] = [:]
    }

    /// Asks Apple about the subscriptions of one customer, unless questions are held back.
    ///
    /// - Parameter streams: The customer's subscriptions and purchases.
    /// - Returns: The outcome.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func refresh(_ streams: [StreamID]) async throws -> Outcome {
        if let refusal = begin(streams, at: poller.clock()) { return refusal }
        do {
            let report = try await poller.refresh(streams)
            end(report, about: streams, at: poller.clock())
            guard report.hasAsked || report.isRateLimited else {
                return .recent(answeredAt: report.answeredAt)
            }
            return .asked(report)
        } catch {
            end(error, at: poller.clock())
            throw error
        }
    }

    // Nil if it may ask.
    private func begin(_ streams: [StreamID], at now: Instant) -> Outcome? {
        state.withLock { state in
            if now < state.heldUntil { return .held(until: state.heldUntil, why: state.why) }
            if state.failures > 0, state.isTrying {
                return .held(until: now.adding(Refresher.awayHoldSeconds), why: state.why)
            }
            let refusals = streams.compactMap { state.refusals[$0] }.filter { now < $0.until }
            if let first = refusals.first, refusals.count == streams.count {
                return .held(until: first.until, why: first.why)
            }
            guard state.underWay < Refresher.underWayMax else { return .busy }
            state.underWay += 1
            state.isTrying = state.failures > 0
            return nil
        }
    }

    private func end(_ report: RefreshReport, about streams: [StreamID], at now: Instant) {
        state.withLock { state in
            state.underWay -= 1
            state.isTrying = false
            if let until = report.asked.retryAt {
                (state.heldUntil, state.why) = (until, "Apple's rate limit is reached")
                return
            }
            if let away = report.asked.failures.first(where: \.isAway) {
                state.failures += 1
                state.hold(for: Refresher.awaySeconds(state.failures), away.message, at: now)
                return
            }
            if report.hasAsked { state.failures = 0 }
            let refused = report.asked.failures.filter(\.isRefusal)
            if state.refusals.count > Refresher.refusalsMax { state.refusals = [:] }
            for failure in refused {
                for stream in streams
                where stream.originalTransactionId == failure.originalTransactionId {
                    let until = now.adding(Refresher.refusalHoldSeconds)
                    state.refusals[stream] = (until, failure.message)
                }
            }
        }
    }

    private func end(_ error: any Error, at now: Instant) {
        state.withLock { state in
            state.underWay -= 1
            state.isTrying = false
            guard let error = error as? ServerError, error.code == .credentials else { return }
            state.failures += 1
            state.hold(for: Refresher.keyHoldSeconds, error.message, at: now)
        }
    }

    private static func awaySeconds(_ failures: Int) -> Double {
        var seconds = awayHoldSeconds
        for _ in 1..<max(1, failures) where seconds < awayHoldSecondsMax { seconds *= 2 }
        return min(seconds, awayHoldSecondsMax)
    }
}

extension Refresher.State {
    fileprivate mutating func hold(for seconds: Double, _ why: String, at now: Instant) {
        (heldUntil, self.why) = (now.adding(seconds), why)
    }
}

extension Instant {
    fileprivate func adding(_ seconds: Double) -> Instant {
        Instant(milliseconds: milliseconds + Int64(seconds * 1000))
    }
}

extension PollReport.Failure {
    fileprivate var isAway: Bool {
        [ServerError.Code.unavailable, .timedOut].map(\.rawValue).contains(reason)
    }

    fileprivate var isRefusal: Bool { reason == ServerError.Code.refused.rawValue }
}
