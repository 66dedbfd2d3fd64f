/// What one question may take, in time, attempts and size.
public struct ServerLimits: Sendable {
    /// Seconds until a connection is there.
    public var connectSecondsMax = 10.0
    /// Seconds between two pieces of an answer.
    public var silenceSecondsMax = 20.0
    /// Seconds from the request to the last byte of its answer.
    public var answerSecondsMax = 60.0
    /// Bytes of an answer: no more is accepted as a payload.
    ///
    /// A page of twenty transactions has some hundred thousand, an answer of verifyReceipt after
    /// years of renewals some millions.
    public var answerByteCountMax = 16 << 20
    /// Pages of one question: 20 transactions each, more than any customer has.
    public var pagesMax = 10_000
    /// How often a question is asked that may be answered later.
    public var attemptsMax = 5
    /// Seconds before the second attempt; doubled for each further one, and half of it drawn.
    public var backOffSeconds = 0.5
    /// Most seconds between two attempts.
    public var backOffSecondsMax = 30.0
    /// Most seconds that a rate limit is waited for; a longer wait is an error with its end.
    public var rateLimitSecondsMax = 120.0
    /// The share of Apple's rate limits that is used, above 0 to 1: other programs ask for the
    /// same app.
    public var rateShare = 0.5

    /// The defaults.
    public init() {}

    /// How long to wait before an attempt, from 2 on.
    ///
    /// - Parameters:
    ///   - attempt: Its number.
    ///   - jitter: A draw from 0 to 1.
    /// - Returns: The wait.
    func backOff(before attempt: Int, jitter: Double) -> Duration {
        var seconds = backOffSeconds
        for _ in 2..<max(2, attempt) where seconds < backOffSecondsMax { seconds *= 2 }
        return .seconds(min(seconds, backOffSecondsMax) * (0.5 + jitter / 2))
    }
}
