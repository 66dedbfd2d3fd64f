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
        /// As fast as it may become again for now: somewhat slower than where Apple refused last.
        var floor = 1.0
        var floorUntil: ContinuousClock.Instant
    }

    private let share: Double
    private let waitMax: Duration
    private var paces: [Key: Pace] = [:]

    /// Each refusal halves the rate, down to this part of it.
    private static let slownessMax = 64.0
    /// What a request that is allowed gives back of it.
    private static let recovery = 0.98
    /// How much slower than at the last refusal the rate stays afterwards.
    private static let caution = 1.25
    /// For how long: after it a higher rate is tried again, which costs a refusal where the limit
    /// stands.
    private static let cautionTime = Duration.seconds(900)
    /// Apple allows the sandbox a tenth of the rate.
    private static let sandboxShare = 0.1

    init(limits: ServerLimits) {
        share = limits.rateShare
        waitMax = .seconds(limits.rateLimitSecondsMax)
    }

    /// Requests a second to an endpoint, at a share of what Apple allows.
    static func rate(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: Environment,
        _ share: Double
    ) -> Double {
        endpoint.perSecond * share * (environment == .sandbox ? sandboxShare : 1)
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
        let rate = RequestBudget.rate(endpoint, environment, share)
        while true {
            let now = ContinuousClock.now
            var pace = paces[key] ?? Pace(next: now, heldUntil: now, floorUntil: now)
            let slot = max(now, pace.next, pace.heldUntil)
            if slot - now > waitMax { return slot - now }
            pace.next = slot + .seconds(pace.slowness / rate)
            let floor = pace.floorUntil > now ? pace.floor : 1
            pace.slowness = max(floor, pace.slowness * RequestBudget.recovery)
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
        var pace = paces[key] ?? Pace(next: now, heldUntil: now, floorUntil: now)
        // Requests that were under way together are refused for one reason.
        if pace.heldUntil <= now {
            let slowness = pace.slowness
            pace.slowness = min(RequestBudget.slownessMax, slowness * 2)
            pace.floor = min(pace.slowness, slowness * RequestBudget.caution)
            pace.floorUntil = now + RequestBudget.cautionTime
        }
        pace.heldUntil = max(pace.heldUntil, now + duration)
        pace.next = max(pace.next, pace.heldUntil)
        paces[key] = pace
    }

    /// Seconds until the next request may be sent to every endpoint that was asked; 0 for now.
    var secondsToWait: Double {
        let now = ContinuousClock.now
        return paces.values.map { (max($0.next, $0.heldUntil) - now) / .seconds(1) }
            .reduce(0, max)
    }
}
