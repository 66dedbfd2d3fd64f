/// Why a policy was not accepted.
public struct PolicyError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, to which object, and what to do next; safe to log.
    public let message: String

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// It is not a JSON object.
        case notAPolicy = "not-a-policy"
        /// It has a member that no policy has.
        case unknownMember = "unknown-member"
        /// It has a member twice, so the intended value is not known.
        case duplicateMember = "duplicate-member"
        /// A member has a value of another type.
        case malformed
        /// It is larger than any policy.
        case tooLarge = "too-large"
        /// It names a version of the catalog that was never imported.
        case unknownCatalog = "unknown-catalog"
        /// Sandbox purchases would count for longer than they may, or never.
        case sandboxWindow = "sandbox-window"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension PolicyError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }
}
