internal import Events

/// Spreads requests over time, so Apple refuses none for its rate.
///
/// There is one budget for each endpoint and environment. After a 429, nothing is sent to them
/// before the instant that Apple named.
actor RequestBudget {
    private struct Key: Hashable {
        let endpoint: ServerRequest.Endpoint
        let environment: StoreEnvironment
    }

    private let share: Double
    private let waitMax: Duration
    private var paces: [Key: RequestPace] = [:]

    /// Apple allows the sandbox a tenth of the rate.
    private static let sandboxShare = 0.1

    init(limits: ServerLimits) {
        share = limits.rateShare
        waitMax = .seconds(limits.rateLimitSecondsMax)
    }

    /// Requests per second to an endpoint, at a share of Apple's limit.
    static func rate(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: StoreEnvironment,
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
        _ environment: StoreEnvironment
    ) async throws -> Duration? {
        let key = Key(endpoint: endpoint, environment: environment)
        let rate = RequestBudget.rate(endpoint, environment, share)
        while true {
            let now = ContinuousClock.now
            var pace = paces[key] ?? RequestPace(at: now)
            let slot = pace.slot(at: now)
            if slot - now > waitMax { return slot - now }
            pace.take(slot, rate: rate, at: now)
            paces[key] = pace
            if slot > now { try await Task.sleep(until: slot, clock: .continuous) }
            // Another request may have been refused in the meantime.
            if let held = paces[key]?.heldUntil, held > slot { continue }
            return nil
        }
    }

    /// Sends nothing for some time, and then continues more slowly: a request that was sent at that
    /// instant was refused.
    func hold(
        _ endpoint: ServerRequest.Endpoint,
        _ environment: StoreEnvironment,
        for duration: Duration,
        sent: ContinuousClock.Instant
    ) {
        let key = Key(endpoint: endpoint, environment: environment)
        let now = ContinuousClock.now
        var pace = paces[key] ?? RequestPace(at: now)
        pace.hold(for: duration, sent: sent, at: now)
        paces[key] = pace
    }

    /// Seconds until a request may be sent to every endpoint used so far; 0 for now.
    var secondsToWait: Double {
        let now = ContinuousClock.now
        return paces.values.map { ($0.slot(at: now) - now) / .seconds(1) }.reduce(0, max)
    }
}
