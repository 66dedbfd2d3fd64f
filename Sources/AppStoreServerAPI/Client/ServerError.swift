public import Events

/// Why Apple could not be asked, or did not answer.
///
/// Safe to log: it holds neither key, token, secret nor a part of an answer.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What callers switch on.
    public enum Code: String, CaseIterable, Hashable, Sendable {
        /// The key, its id, the issuer or the app is not accepted, here or at Apple.
        case credentials
        /// The address is not one that a token may be sent to.
        case address
        /// Apple answered that the question cannot be answered.
        case refused
        /// Apple, or our own budget, allows no request before `retryAt`.
        case rateLimited
        /// Apple's service or the network is down, after several attempts.
        case unavailable
        /// The answer was not complete in time, after several attempts.
        case timedOut
        /// The answer has more bytes or pages than any of Apple's.
        case answerTooLarge
        /// The answer is not of the documented form.
        case answerUnreadable
    }

    /// What callers switch on.
    public let code: Code
    /// Apple's own code; nil where there was none.
    public let errorCode: ServerErrorCode?
    /// When asking again may help; nil where nothing says so.
    public let retryAt: Instant?
    /// What happened, and what to do.
    public let message: String

    /// An error.
    init(
        _ code: Code,
        _ message: String,
        errorCode: ServerErrorCode? = nil,
        retryAt: Instant? = nil
    ) {
        self.code = code
        self.message = message
        self.errorCode = errorCode
        self.retryAt = retryAt
    }

    /// Whether the same question may be answered later.
    public var isRetryable: Bool {
        switch code {
        case .rateLimited, .unavailable, .timedOut: true
        case .credentials, .address, .refused, .answerTooLarge, .answerUnreadable: false
        }
    }

    /// The message.
    public var description: String { message }
}
