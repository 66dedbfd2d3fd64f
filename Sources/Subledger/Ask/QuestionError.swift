/// Why a question could not be answered.
public struct QuestionError: Error, Hashable, Sendable {
    /// What happened, for callers to switch on.
    public let code: Code
    /// What happened, and to which thing; safe to log.
    public let message: String
    /// The `originalTransactionId`s of the subscriptions among which the question does not choose:
    /// all of the customer's with `severalSubscriptions`, else none.
    public let subscriptions: [String]

    /// The causes.
    public enum Code: String, CaseIterable, Sendable {
        /// Nothing in the ledger has the id.
        case unknownId = "unknown-id"
        /// The ledger holds no event at all, so that it knows no id.
        case emptyLedger = "empty-ledger"
        /// The id is known, and not in the environment that was asked about.
        case otherEnvironment = "other-environment"
        /// The id is known in several environments, and none was named.
        case severalEnvironments = "several-environments"
        /// The question is about one subscription, and the id names a customer with several.
        case severalSubscriptions = "several-subscriptions"
        /// Nothing was known of the id by then.
        case nothingKnownThen = "nothing-known-then"
        /// No catalog holds the product, or its subscription group is not known.
        case unknownProduct = "unknown-product"
        /// No catalog holds the subscription group, or several have the name.
        case unknownGroup = "unknown-group"
        /// The id is the name of a customer and an id of a subscription that is not theirs.
        case ambiguousId = "ambiguous-id"
        /// A position is named that this ledger does not have.
        case unknownPosition = "unknown-position"
        /// The subscription has more events than a question of this kind takes.
        case tooManyEvents = "too-many-events"
        /// The live tables that a report reads were not built by this program over this log.
        case tablesNotBuilt = "tables-not-built"
        /// The live tables that a report reads are at different positions, until they are followed.
        case tablesNotReady = "tables-not-ready"
        /// A report cannot be asked in this way.
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
