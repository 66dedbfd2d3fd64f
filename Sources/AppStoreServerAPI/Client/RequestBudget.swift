internal import Events

/// Spreads requests over time, so Apple refuses none for its rate.
///
/// There is one budget for each endpoint and environment. After a 429, nothing is sent to them
/// before the instant that Apple named.
actor RequestBudget {
    private struct Key: Hashable {
        let endpoint: ServerRequest.Endpoint
        let environment: Environment
    }

    private struct Pace {
        var next: ContinuousClock.Instant
        var heldUntil: ContinuousClock.Instant
        /// How many times slower than allowed: other clients may use the same app's limit.
        var slowness = 1.0
        /// The lowest slowness for now: somewhat slower than when Apple last refused.
        var floor = 1.0
        var floorUntil: ContinuousClock.Instant
    }

    private let share: Double
    private let waitMax: Duration
    private var paces: [Key: Pace] = [:]

    /// Each refusal doubles the slowness, up to this limit.
    private static let slownessMax = 64.0
    /// The factor that each permitted request applies to the slowness.
    private static let recovery = 0.98
    /// How much slower the rate stays after a refusal than it was before.
    private static let caution = 1.25
    /// How long it stays so; then a higher rate is tried again, which costs one refusal if the
    /// limit still applies.
    private static let cautionTime = Duration.seconds(900)
    /// Apple allows the sandbox a tenth of the rate.
    private static let sandboxShare = 0.1

    init(limits: ServerLimits) {
        share = limits.rateShare
        waitMax = .seconds(limits.rateLimitSecondsMax)
    }

    /// Requests per second to an endpoint, at a share of Apple's limit.
    static func rate(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: Environment,
        _ share: Double
    ) -> Double {
        endpoint.perSecond * share * (environment == .sandbox ? sandboxShare : 1)
    }

    /// Waits until a request may be sent.
    ///
    /// - Returns: nil when it may be sent; otherwise the remaining time, if that is longer than a
    ///   request may wait.
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

    /// Sends nothing for some time, and then continues more slowly.
    func hold(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: Environment,
        for duration: Duration
    ) {
        let key = Key(endpoint: endpoint, environment: environment)
        let now = ContinuousClock.now
        var pace = paces[key] ?? Pace(next: now, heldUntil: now, floorUntil: now)
        // Requests that were in progress together are refused for one reason.
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

    /// Seconds until a request may be sent to every endpoint used so far; 0 for now.
    var secondsToWait: Double {
        let now = ContinuousClock.now
        return paces.values.map { (max($0.next, $0.heldUntil) - now) / .seconds(1) }
            .reduce(0, max)
    }
}
