internal import AppStoreSimulator

/// Why a ``TestStore`` did not do what a test asked for.
public struct TestStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened.
    public let code: Code
    /// What was expected instead, in one sentence.
    public let description: String

    /// The causes.
    public enum Code: Hashable, Sendable {
        /// Nothing was bought under the given id.
        case noSuchSubscription
        /// The App Store would not allow it: the subscription is not in the right state, or the
        /// product or offer does not fit.
        case notAllowed
    }

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ error: ScriptError) {
        self.init(.notAllowed, "the App Store refuses: \(error.expectation)")
    }
}
