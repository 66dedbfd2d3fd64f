/// Why a question could not be answered.
public struct QuestionError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, and to which object; safe to log.
    public let message: String
    /// The `originalTransactionId`s of the subscriptions that the question cannot choose between:
    /// all of the customer's with `severalSubscriptions`, otherwise empty.
    public let subscriptions: [String]

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// Nothing in the ledger has the id.
        case unknownId = "unknown-id"
        /// The ledger does not contain any event, so it does not know any id.
        case emptyLedger = "empty-ledger"
        /// The id is known, but not in the requested environment.
        case otherEnvironment = "other-environment"
        /// The id is known in several environments, and none was named.
        case severalEnvironments = "several-environments"
        /// The question is about one subscription, and the id names a customer with several.
        case severalSubscriptions = "several-subscriptions"
        /// Nothing was known of the id by then.
        case nothingKnownThen = "nothing-known-then"
        /// Everything known of the id was erased, and no purchase was reported since.
        case erased
        /// No catalog contains the product, or its subscription group is not known.
        case unknownProduct = "unknown-product"
        /// No catalog contains the subscription group, or several groups have the name.
        case unknownGroup = "unknown-group"
        /// The id belongs to a customer, and to a subscription that is not theirs.
        case ambiguousId = "ambiguous-id"
        /// The question names a position that does not exist in this ledger.
        case unknownPosition = "unknown-position"
        /// The subscription has more events than this kind of question accepts.
        case tooManyEvents = "too-many-events"
        /// The live tables that a report reads are missing, or were built by another fold or from
        /// another log.
        case tablesNotBuilt = "tables-not-built"
        /// The live tables that a report reads are at different positions; `follow` mends this.
        case tablesNotReady = "tables-not-ready"
        /// The report does not accept the question in this form.
        case unknownReport = "unknown-report"
    }

    init(_ code: Code, _ message: String, subscriptions: [String] = []) {
        self.code = code
        self.message = message
        self.subscriptions = subscriptions
    }
}

extension QuestionError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) [\(code.rawValue)]" }
}
