public import Events

/// Why Apple could not be reached, or did not answer.
///
/// Safe to log: it contains no key, token or secret, and no part of an answer.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What callers switch on.
    public enum Code: String, CaseIterable, Hashable, Sendable {
        /// The key, its id, the issuer or the app is not accepted, here or at Apple.
        case credentials
        /// A token must not be sent to this address.
        case address
        /// Apple answered that the request cannot be fulfilled.
        case refused
        /// Apple, or our own budget, allows no request before `retryAt`.
        case rateLimited
        /// Apple's service or the network is down, after several attempts.
        case unavailable
        /// The answer was not complete in time, after several attempts.
        case timedOut
        /// The answer has more bytes or pages than any of Apple's answers.
        case answerTooLarge
        /// The answer does not have the documented form.
        case answerUnreadable
    }

    /// What callers switch on.
    public let code: Code
    /// Apple's own code; nil if there was none.
    public let errorCode: ServerErrorCode?
    /// When a retry may help; nil if unknown.
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

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
        switch code {
        case .rateLimited, .unavailable, .timedOut: true
        case .credentials, .address, .refused, .answerTooLarge, .answerUnreadable: false
        }
    }

    /// The message.
    public var description: String { message }
}
