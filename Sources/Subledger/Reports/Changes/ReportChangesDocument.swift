public import Events

/// How the numbers of a report differ between two states of the ledger, by cause.
///
/// The report is computed for the earlier state, then again after each cause: what a cause changes is
/// its part. So the parts of a cell add up to its difference exactly, also where numbers do not add
/// up over customers, such as percentages. An empty cell, and a cell of a missing row, count as 0.
public struct ReportChangesDocument: Codable, Hashable, Sendable {
    /// The report's name.
    public let name: String
    /// The version of its definition.
    public let version: Int
    /// What it counts, in a few sentences.
    public let definition: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The first day of both states, UTC, as `2026-03-03`.
    public let from: String
    /// The last day of both states, UTC.
    public let to: String
    /// What the numbers are broken down by.
    public let by: [Report.Dimension]
    /// How money is converted and estimated; nil if amounts are as Apple signed them.
    public let money: ReportMoney?
    /// The earlier state.
    public let before: State
    /// The later state.
    public let after: State
    /// The versions of the folds that both states are computed with, by name.
    public let folds: [String: Int]
    /// Erasures in the ledger, at any time: only these change what was known at a position.
    public let erasures: Int64
    /// Subscriptions that a fold refused, which are not counted.
    public let refusedSubscriptions: Int
    /// The command that prints this again; nil if none can, because a catalog or rates imported
    /// after the newest events were used.
    public let command: String?
    /// Whether these are all rows that differ; false if the limit was reached.
    public let isComplete: Bool
    /// The columns that identify a row, in order.
    public let keys: [Report.Column]
    /// The other columns, in order.
    public let columns: [Report.Column]
    /// The rows that differ.
    public let rows: [Row]
    /// The causes that changed any number, in the order in which they were applied.
    public let causes: [Cause]

    /// A state of the ledger.
    public struct State: Codable, Hashable, Sendable {
        /// The newest event of each lane that is included, by the lane's number.
        public let positions: [String: Int64]
        /// The newest version of the catalog used by the folds; 0 for none.
        public let catalogVersion: Int
        /// The instant on Apple's clock after which nothing counts.
        public let asOf: Instant
    }

    /// A row in which a number differs.
    public struct Row: Codable, Hashable, Sendable {
        /// The values that identify it, by the JSON name of their columns.
        public let key: [String: ReportValue]
        /// Which states have it.
        public let presence: Presence
        /// The cells that differ, or that several causes changed and changed back.
        public let cells: [Cell]
    }

    /// Which states have a row.
    public enum Presence: String, Codable, Sendable {
        /// Both.
        case both
        /// Only the later one.
        case added
        /// Only the earlier one.
        case removed
    }

    /// A cell with its values in both states.
    public struct Cell: Codable, Hashable, Sendable {
        /// The JSON name of its column.
        public let column: String
        /// The value in the earlier state.
        public let old: ReportValue
        /// The value in the later state.
        public let new: ReportValue
        /// New less old; nothing for instants and texts.
        public let difference: ReportValue
        /// The parts of the difference, in the order of the causes.
        public let parts: [Part]
    }

    /// What one cause changed in a cell.
    public struct Part: Codable, Hashable, Sendable {
        /// The cause, as in `causes`.
        public let cause: String
        /// What it adds to the number; nothing for instants and texts.
        public let difference: ReportValue
        /// The value after it.
        public let value: ReportValue
    }

    /// A cause, with the subscriptions behind it.
    public struct Cause: Codable, Hashable, Sendable {
        /// Its name (`ReportCause`); of subscriptions with several kinds of facts, all of them,
        /// joined by `+`.
        public let cause: String
        /// The number of subscriptions; nil for a cause that is not about subscriptions.
        public let subscriptions: Int64?
        /// The first of them.
        public let customers: [Customer]
    }

    /// A subscription with its customer.
    public struct Customer: Codable, Hashable, Sendable {
        /// The newest customer: by a link, else the token, else the subscription itself.
        public let customerId: String
        /// The subscription.
        public let originalTransactionId: String
    }
}

/// Why a number of a report differs between two states of the ledger.
package enum ReportCause: String, CaseIterable, Sendable {
    /// Exchange rates were imported.
    case rates
    /// A version of the catalog was imported.
    case catalog
    /// The last day was not over, and counts further.
    case time
    /// Purchases became known.
    case purchase
    /// Refunds became known.
    case refund
    /// Refunds were reversed.
    case refundReversed = "refund-reversed"
    /// Prices became known of purchases that had none.
    case priceStated = "price-stated-later"
    /// Other facts about subscriptions: renewal states, changes of plan, links of customers.
    case otherFacts = "other-facts"

    /// The kinds of facts, each with the number that stands for it in SQL.
    private static let facts: [(number: Int32, cause: ReportCause)] = [
        (1, .purchase), (2, .refund), (4, .refundReversed), (8, .priceStated), (16, .otherFacts),
    ]

    /// The name for subscriptions with several kinds of facts; 0 is the catalog.
    static func name(_ number: Int32) -> String {
        guard number != 0 else { return ReportCause.catalog.rawValue }
        return facts.filter { number & $0.number != 0 }.map(\.cause.rawValue).joined(separator: "+")
    }

    /// A name as text.
    static func words(_ name: String) -> String {
        name.split(separator: "+").map { word in
            ReportCause(rawValue: String(word))?.words ?? String(word)
        }.joined(separator: ", ")
    }

    private var words: String {
        switch self {
        case .rates: "rates imported since"
        case .catalog: "catalog imported since"
        case .time: "the last day counts further"
        case .purchase, .refund: rawValue
        case .refundReversed: "refund reversed"
        case .priceStated: "price stated later"
        case .otherFacts: "other facts"
        }
    }
}
