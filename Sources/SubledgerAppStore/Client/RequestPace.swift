/// When requests to one endpoint may be sent: at the permitted rate, and more slowly after refusals.
///
/// It reads no clock: who asks says what time it is.
struct RequestPace {
    /// Nothing is sent before this instant, because Apple refused a request and named it.
    private(set) var heldUntil: ContinuousClock.Instant
    private var next: ContinuousClock.Instant
    /// How many times slower than allowed: other clients may use the same app's limit.
    private var slowness = 1.0
    /// The lowest slowness for now: somewhat slower than when Apple last refused.
    private var floor = 1.0
    private var floorUntil: ContinuousClock.Instant

    /// Each refusal doubles the slowness, up to this limit.
    private static let slownessMax = 64.0
    /// The factor that each permitted request applies to the slowness.
    private static let recovery = 0.98
    /// How much slower the rate stays after a refusal than it was before.
    private static let caution = 1.25
    /// How long it stays so; then a higher rate is tried again, which costs one refusal if the
    /// limit still applies.
    private static let cautionTime = Duration.seconds(900)

    /// A pace at which nothing was sent before that instant.
    init(at now: ContinuousClock.Instant) {
        (heldUntil, next, floorUntil) = (now, now, now)
    }

    /// The earliest instant at which one more request may be sent; never before `now`.
    func slot(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        max(now, next, heldUntil)
    }

    /// Notes a request that will be sent at that instant, at a rate in requests per second.
    mutating func take(
        _ slot: ContinuousClock.Instant,
        rate: Double,
        at now: ContinuousClock.Instant
    ) {
        next = slot + .seconds(slowness / rate)
        slowness = max(floorUntil > now ? floor : 1, slowness * RequestPace.recovery)
    }

    /// Notes that a request was refused: nothing is sent for some time, and then requests are slower.
    ///
    /// - Parameters:
    ///   - duration: How long nothing is sent, from now on.
    ///   - sent: When the refused request was sent.
    ///   - now: When the refusal arrived.
    mutating func hold(
        for duration: Duration,
        sent: ContinuousClock.Instant,
        at now: ContinuousClock.Instant
    ) {
        // Requests that were in progress together are refused for one reason.
        if heldUntil <= sent {
            let before = slowness
            slowness = min(RequestPace.slownessMax, before * 2)
            floor = min(slowness, before * RequestPace.caution)
            floorUntil = now + RequestPace.cautionTime
        }
        heldUntil = max(heldUntil, now + duration)
        next = max(next, heldUntil)
    }
}
