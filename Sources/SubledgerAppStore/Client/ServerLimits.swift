/// The limits of one request, in time, attempts and size.
public struct ServerLimits: Sendable {
    /// Seconds until a connection is open.
    public var connectSecondsMax = 10.0
    /// Seconds between two pieces of an answer.
    public var silenceSecondsMax = 20.0
    /// Seconds from the request to the last byte of its answer.
    public var answerSecondsMax = 60.0
    /// Bytes of an answer: the largest payload accepted.
    ///
    /// A page of twenty transactions has a few hundred thousand.
    public var answerByteCountMax = 16 << 20
    /// Pages of one request: 20 transactions each, more than any customer has.
    public var pagesMax = 10_000
    /// Most attempts for a request that may succeed later.
    public var attemptsMax = 5
    /// Seconds before the second attempt; doubled for each further one; half of it is random.
    public var backOffSeconds = 0.5
    /// Most seconds between two attempts.
    public var backOffSecondsMax = 30.0
    /// Most seconds to wait for a rate limit; a longer wait is an error that names its end.
    public var rateLimitSecondsMax = 120.0
    /// The share of Apple's rate limits to use, above 0 and up to 1: other programs may send
    /// requests for the same app.
    public var rateShare = 0.5

    /// The defaults.
    public init() {}

    /// How long to wait before an attempt, from 2 on.
    ///
    /// - Parameters:
    ///   - attempt: Its number.
    ///   - jitter: A random number from 0 to 1.
    /// - Returns: The wait.
    func backOff(before attempt: Int, jitter: Double) -> Duration {
        var seconds = backOffSeconds
        for _ in 2..<max(2, attempt) where seconds < backOffSecondsMax { seconds *= 2 }
        return .seconds(min(seconds, backOffSecondsMax) * (0.5 + jitter / 2))
    }
}
