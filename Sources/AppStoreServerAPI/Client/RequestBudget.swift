internal import Events

/// Spreads requests over time, so that none is sent that Apple would refuse for its rate.
///
/// One budget for each endpoint and environment. After a 429 nothing is sent to them before the
/// instant that Apple named.
actor RequestBudget {
    private struct Key: Hashable {
        let endpoint: ServerRequest.Endpoint
        let environment: Environment
    }

    private struct Pace {
        var next: ContinuousClock.Instant
        var heldUntil: ContinuousClock.Instant
        /// How many times slower than allowed: others ask for the same app.
        var slowness = 1.0
    }

    private let share: Double
    private let waitMax: Duration
    private var paces: [Key: Pace] = [:]

    /// Each refusal halves the rate, down to this part of it.
    private static let slownessMax = 64.0
    /// What a request that is allowed gives back of it.
    private static let recovery = 0.98
    /// Apple allows the sandbox a tenth of the rate.
    private static let sandboxShare = 0.1

    init(limits: ServerLimits) {
        share = limits.rateShare
        waitMax = .seconds(limits.rateLimitSecondsMax)
    }

    /// Waits for the turn of a request.
    ///
    /// - Returns: nil when it may be sent; otherwise the time that is still to wait, where that is
    ///   more than a question waits.
    func turn(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: Environment
    ) async throws -> Duration? {
        let key = Key(endpoint: endpoint, environment: environment)
        let rate =
            endpoint.perSecond * share * (environment == .sandbox ? RequestBudget.sandboxShare : 1)
        while true {
            let now = ContinuousClock.now
            var pace = paces[key] ?? Pace(next: now, heldUntil: now)
            let slot = max(now, pace.next, pace.heldUntil)
            if slot - now > waitMax { return slot - now }
            pace.next = slot + .seconds(pace.slowness / rate)
            pace.slowness = max(1, pace.slowness * RequestBudget.recovery)
            paces[key] = pace
            if slot > now { try await Task.sleep(until: slot, clock: .continuous) }
            // Another request may have been refused in the meantime.
            if let held = paces[key]?.heldUntil, held > slot { continue }
            return nil
        }
    }

    /// Sends nothing for some time, and then more slowly.
    func hold(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: Environment,
        for duration: Duration
    ) {
        let key = Key(endpoint: endpoint, environment: environment)
        let now = ContinuousClock.now
        var pace = paces[key] ?? Pace(next: now, heldUntil: now)
        // Requests that were under way together are refused for one reason.
        if pace.heldUntil <= now {
            pace.slowness = min(RequestBudget.slownessMax, pace.slowness * 2)
        }
        pace.heldUntil = max(pace.heldUntil, now + duration)
        pace.next = max(pace.next, pace.heldUntil)
        paces[key] = pace
    }
}
