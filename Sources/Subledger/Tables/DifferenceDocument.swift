public import Events

/// How new tables differ from the live ones, for which customers, and because of which events.
public struct DifferenceDocument: Codable, Hashable, Sendable {
    /// What was compared; nil where only tables were.
    public let comparison: Comparison?
    /// Whether nothing differs.
    public let equal: Bool
    /// Subscriptions that were compared.
    public let streamsCompared: Int
    /// Those that differ.
    public let streamsChanged: Int
    /// Access that differs in production.
    public let access: Access
    /// Money that differs in production: of one table, so that no sum counts twice.
    public let money: [Money]
    /// The same of the other tables, which may tell of that money again.
    public let otherMoney: [Money]
    /// What differs, environment by environment.
    public let environments: [Effect]
    /// The tables.
    public let projections: [Table]
    /// Subscriptions that a fold refuses.
    public let refusals: Refusals
    /// Live tables and views that are not what a rebuild makes.
    public let alterations: [Alteration]
    /// Some subscriptions that differ, explained.
    public let samples: [Sample]
    /// What was promoted after the comparison; nil where nothing was.
    public internal(set) var promotion: PromotionDocument?

    /// What was compared, of what knowledge, and when.
    public struct Comparison: Codable, Hashable, Sendable {
        /// `diff`, `check`, or `with` for another policy.
        public let kind: String
        /// The policy that was judged, as JSON; nil where none was.
        public let policy: String?
        /// The schema in which the new tables are kept; nil where they wait or were dropped.
        public let schema: String?
        /// The ledger's id as a UUID.
        public let ledgerId: String
        /// When the report was made, on our clock.
        public let madeAt: Instant
        /// Up to where both sides hold the log.
        public let upTo: [Standing]
    }

    /// Some tables, and up to where they hold the log.
    public struct Standing: Codable, Hashable, Sendable {
        /// Their projections.
        public let projections: [String]
        /// The newest commit of each lane.
        public let heads: [ChainHead]
    }

    /// Access that differs.
    public struct Access: Codable, Hashable, Sendable {
        /// Hours that are access by the new tables alone, to a thousandth.
        public let gainedHours: Double
        /// Hours that are access by the live tables alone, to a thousandth.
        public let lostHours: Double
        /// The same in milliseconds.
        public let gainedMs: Int64
        /// The same in milliseconds.
        public let lostMs: Int64
    }

    /// Money that differs in one currency.
    public struct Money: Codable, Hashable, Sendable {
        /// The table that tells of it.
        public let projection: String
        /// The currency; nil where none is known.
        public let currency: String?
        /// What the new table has more.
        public let gainedMilliunits: Int64
        /// What the new table has less.
        public let lostMilliunits: Int64
    }

    /// What differs in one environment.
    public struct Effect: Codable, Hashable, Sendable {
        /// Where the purchases were made.
        public let environment: Environment
        /// Subscriptions that differ.
        public let streamsChanged: Int
        /// Access that differs.
        public let access: Access
        /// Money that differs, of one table.
        public let money: [Money]
        /// The same of the other tables.
        public let otherMoney: [Money]
    }

    /// What differs in one table.
    public struct Table: Codable, Hashable, Sendable {
        /// Its projection.
        public let name: String
        /// The version of the fold that made the live one; nil where there is none.
        public let oldVersion: Int?
        /// The version of the fold that made the new one.
        public let newVersion: Int
        /// The catalog that the live one knows; 0 for none, nil where that is not known.
        public let oldCatalogVersion: Int?
        /// The catalog that the new one knows.
        public let newCatalogVersion: Int?
        /// Whether there is no live table to compare with; `rows` are then those of the new one.
        public let isNew: Bool
        /// How many rows the new one has.
        public let rows: Int?
        /// Rows that differ.
        public let rowsChanged: Int
        /// Subscriptions that differ.
        public let streamsChanged: Int
        /// What became of rows, by the kind of the change.
        public let changes: [String: Count]
        /// Rows in which each column differs.
        public let columns: [String: Int]
        /// Columns of the new table alone.
        public let columnsAdded: [String]
        /// Columns of the live table alone.
        public let columnsRemoved: [String]
    }

    /// How often something happened.
    public struct Count: Codable, Hashable, Sendable {
        /// Rows.
        public let rows: Int
        /// Subscriptions.
        public let streams: Int
    }

    /// Subscriptions that a fold refuses.
    public struct Refusals: Codable, Hashable, Sendable {
        /// Refusals that both sides have.
        public let same: Int
        /// Refusals that only one side has.
        public let changedCount: Int
        /// The first of these.
        public let changed: [RefusalChange]
    }

    /// A refusal that differs.
    public struct RefusalChange: Codable, Hashable, Sendable {
        /// The table.
        public let projection: String
        /// The subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// That of the live table; nil where it refuses nothing.
        public let live: Refusal?
        /// That of a rebuild; nil where it refuses nothing.
        public let rebuilt: Refusal?
    }

    /// A subscription that a fold refuses.
    public struct Refusal: Codable, Hashable, Sendable {
        /// The event at which.
        public let position: PositionValue
        /// Why.
        public let reason: String
    }

    /// A live table or view that is not what a rebuild makes.
    public struct Alteration: Codable, Hashable, Sendable {
        /// Its projection.
        public let projection: String
        /// What it is: `table` or `view`.
        public let kind: String
        /// What is otherwise, and what to do.
        public let message: String
    }

    /// One subscription that differs, explained.
    public struct Sample: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// Whose it is; nil where nobody said.
        public let customer: String?
        /// The instant that is explained.
        public let at: Instant
        /// Access that differs.
        public let access: AccessChange
        /// Money that differs, of one table.
        public let money: [MoneyChange]
        /// The same of the other tables.
        public let otherMoney: [MoneyChange]
        /// What the live tables say.
        public let old: Side
        /// What the new tables say.
        public let new: Side
        /// Rows that differ and are not listed.
        public let changesOmitted: Int
        /// Why each side says what it says.
        public let explain: Explanations
    }

    /// Access of one subscription that differs.
    public struct AccessChange: Codable, Hashable, Sendable {
        /// Milliseconds that are access by the new tables alone.
        public let gainedMs: Int64
        /// Milliseconds that are access by the live tables alone.
        public let lostMs: Int64
    }

    /// Money of one subscription that differs.
    public struct MoneyChange: Codable, Hashable, Sendable {
        /// The table that tells of it.
        public let projection: String
        /// The currency; nil where none is known.
        public let currency: String?
        /// What the new table has more; below zero what it has less.
        public let milliunits: Int64
    }

    /// What one side says of a subscription.
    public struct Side: Codable, Hashable, Sendable {
        /// The times with access; nil where no table that tells them is compared.
        public let active: [IntervalValue]?
        /// The rows that differ.
        public let rows: [Row]
    }

    /// A row that differs.
    public struct Row: Codable, Hashable, Sendable {
        /// Its table.
        public let projection: String
        /// What became of it.
        public let changes: [String]
        /// The columns that differ.
        public let columns: [String]
        /// Its values by column, in camel case; those that are null are left out.
        public let values: [String: PropertyValue]
        /// The events that it rests on.
        public let positions: [PositionValue]
    }

    /// Why each side says what it says of a subscription.
    public struct Explanations: Codable, Hashable, Sendable {
        /// What they are about: `access`, `row` or `order`.
        public let about: String
        /// The row of the live table, and its events.
        public let old: RowExplanation
        /// What this program's folds answer; nil where they have no answer.
        public let new: ExplanationDocument?
        /// The row of the new table, and its events, where the matter is a row.
        public let newRow: RowExplanation?
    }

    /// A row, and the events that caused it.
    public struct RowExplanation: Codable, Hashable, Sendable {
        /// The instant, where access is explained.
        public let at: Instant?
        /// Whether there is access at it; nil where nothing tells.
        public let access: Bool?
        /// The row; nil where there is none.
        public let row: Row?
        /// The events.
        public let because: [Cause]
    }

    /// An event that caused a row.
    public struct Cause: Codable, Hashable, Sendable {
        /// The event.
        public let position: PositionValue
        /// When it took effect.
        public let effective: Instant
        /// When the log learnt of it, on the ledger's clock.
        public let recordedAt: Instant
        /// What it is about.
        public let kind: String
        /// What it says, in a few words.
        public let what: String
        /// The channel it came by.
        public let source: String?
        /// Why it is believed.
        public let trust: String?
    }
}
