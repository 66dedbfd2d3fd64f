internal import Events

/// When a message is sent again: over three days, as Standard Webhooks suggests.
enum RetrySchedule {
    /// Seconds from each attempt that failed to the next one.
    static let seconds: [Int64] = [
        1, 5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 72_000,
    ]
    /// Milliseconds for which a receiver that accepts nothing is tried.
    static let patience: Int64 = 3 * 86_400_000
    /// The most milliseconds that a receiver's `Retry-After` delays an attempt.
    private static let askedMax: Int64 = 3_600_000

    /// When the next attempt is due; nil after the last one.
    ///
    /// - Parameters:
    ///   - attempts: How many were made.
    ///   - now: Our clock.
    ///   - asked: When the receiver wants to be asked again; nil if it does not say.
    /// - Returns: When it is due.
    static func next(after attempts: Int, at now: Instant, asked: Instant? = nil) -> Instant? {
        guard attempts >= 1, attempts <= seconds.count else { return nil }
        // Up to a tenth later, so that what failed together does not come again together.
        let wait = seconds[attempts - 1] * 1000
        let due = now.milliseconds + wait + Int64.random(in: 0...(wait / 10))
        return max(Instant(milliseconds: due), bounded(asked, at: now) ?? now)
    }

    /// When a receiver wants to be asked again, an hour from now at most.
    static func bounded(_ asked: Instant?, at now: Instant) -> Instant? {
        asked.map { min($0, Instant(milliseconds: now.milliseconds + askedMax)) }
    }
}
