public import EventLog
public import Events
public import Projections
public import Projector

/// How new tables differ from the live ones, for which customers, and because of which events.
public struct DifferenceDocument: Codable, Hashable, Sendable {
    /// What was compared; nil if only tables were.
    public let comparison: Comparison?
    /// Whether nothing differs.
    public let equal: Bool
    /// Subscriptions that were compared.
    public let streamsCompared: Int
    /// Subscriptions that differ.
    public let streamsChanged: Int
    /// Access that differs in production.
    public let access: Access
    /// Money that differs in production, in one table, so no amount counts twice.
    public let money: [Money]
    /// The same for the other tables, which may contain that money again.
    public let otherMoney: [Money]
    /// What differs, environment by environment.
    public let environments: [Effect]
    /// The tables.
    public let projections: [Table]
    /// Subscriptions that a fold refuses.
    public let refusals: RefusalDifference
    /// Live tables and views that differ from what a rebuild creates.
    public let alterations: [LiveAlteration]
    /// Some subscriptions that differ, explained.
    public let samples: [Sample]
    /// What was promoted after the comparison; nil if nothing was.
    public internal(set) var promotion: PromotionDocument?

    /// What was compared, of what knowledge, and when.
    public struct Comparison: Codable, Hashable, Sendable {
        /// `diff`, `check`, or `with` for another policy.
        public let kind: String
        /// The policy that was compared, as JSON; nil if there was none.
        public let policy: String?
        /// The schema in which the new tables are kept; nil if they are ready to be promoted or
        /// were dropped.
        public let schema: String?
        /// The ledger's id as a UUID.
        public let ledgerId: String
        /// When the report was made, on our clock.
        public let madeAt: Instant
        /// The positions of the log that both sides include.
        public let upTo: [Standing]
    }

    /// Some tables, and their position in the log.
    public struct Standing: Codable, Hashable, Sendable {
        /// Their projections.
        public let projections: [String]
        /// The newest commit of each lane.
        public let heads: [VerificationReport.Head]
    }

    /// Access that differs.
    public struct Access: Codable, Hashable, Sendable {
        /// Hours of access only in the new tables, to a thousandth.
        public let gainedHours: Double
        /// Hours of access only in the live tables, to a thousandth.
        public let lostHours: Double
        /// The hours gained, in milliseconds.
        public let gainedMs: Int64
        /// The hours lost, in milliseconds.
        public let lostMs: Int64
    }

    /// Money that differs in one currency.
    public struct Money: Codable, Hashable, Sendable {
        /// The table with the money.
        public let projection: String
        /// The currency; nil if it is not known.
        public let currency: String?
        /// The amount that the new table adds.
        public let gainedMilliunits: Int64
        /// The amount that the new table lacks.
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
        /// Money that differs, in one table.
        public let money: [Money]
        /// The same for the other tables.
        public let otherMoney: [Money]
    }

    /// What differs in one table.
    public struct Table: Codable, Hashable, Sendable {
        /// Its projection.
        public let name: String
        /// The version of the fold that built the live one; nil if there is none.
        public let oldVersion: Int?
        /// The version of the fold that built the new one.
        public let newVersion: Int
        /// The catalog that the live one uses; 0 for none, nil if that is not known.
        public let oldCatalogVersion: Int?
        /// The catalog that the new one uses.
        public let newCatalogVersion: Int?
        /// Whether there is no live table to compare with; `rows` are then those of the new one.
        public let isNew: Bool
        /// The number of rows of the new one.
        public let rows: Int?
        /// Rows that differ.
        public let rowsChanged: Int
        /// Subscriptions that differ.
        public let streamsChanged: Int
        /// What happened to rows, by kind of change.
        public let changes: [String: TableTotals.Count]
        /// By column, the number of rows in which it differs.
        public let columns: [String: Int]
        /// Columns only in the new table.
        public let columnsAdded: [String]
        /// Columns only in the live table.
        public let columnsRemoved: [String]
    }

    /// One subscription that differs, explained.
    public struct Sample: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: Environment
        /// The customer who owns it; nil if not known.
        public let customer: String?
        /// The instant that is explained.
        public let at: Instant
        /// Access that differs.
        public let access: AccessChange
        /// Money that differs, in one table.
        public let money: [MoneyChange]
        /// The same for the other tables.
        public let otherMoney: [MoneyChange]
        /// The content of the live tables.
        public let old: Side
        /// The content of the new tables.
        public let new: Side
        /// The number of differing rows that are not listed.
        public let changesOmitted: Int
        /// Why each side has its content.
        public let explain: Explanations
    }

    /// Access of one subscription that differs.
    public struct AccessChange: Codable, Hashable, Sendable {
        /// Milliseconds of access only in the new tables.
        public let gainedMs: Int64
        /// Milliseconds of access only in the live tables.
        public let lostMs: Int64
    }

    /// Money of one subscription that differs.
    public struct MoneyChange: Codable, Hashable, Sendable {
        /// The table with the money.
        public let projection: String
        /// The currency; nil if it is not known.
        public let currency: String?
        /// The amount that the new table adds; negative if it lacks it.
        public let milliunits: Int64
    }

    /// The content of one side for a subscription.
    public struct Side: Codable, Hashable, Sendable {
        /// The times with access; nil if no compared table contains them.
        public let active: [IntervalValue]?
        /// The rows that differ.
        public let rows: [Row]
    }

    /// A row that differs.
    public struct Row: Codable, Hashable, Sendable {
        /// Its table.
        public let projection: String
        /// What happened to it.
        public let changes: [String]
        /// The columns that differ.
        public let columns: [String]
        /// Its values by column, in camel case; null values are omitted.
        public let values: [String: PropertyValue]
        /// The events it is based on.
        public let positions: [Position]
    }

    /// Why each side has its content for a subscription.
    public struct Explanations: Codable, Hashable, Sendable {
        /// What they are about: `access`, `row` or `order`.
        public let about: String
        /// The row of the live table, and its events.
        public let old: RowExplanation
        /// The answer of this program's folds; nil if they have none.
        public let new: ExplanationDocument?
        /// The row of the new table, and its events, if the sample is about a row.
        public let newRow: RowExplanation?
    }

    /// A row, and the events that caused it.
    public struct RowExplanation: Codable, Hashable, Sendable {
        /// The instant, if access is explained.
        public let at: Instant?
        /// Whether there is access at the instant; nil if nothing decides it.
        public let access: Bool?
        /// The row; nil if there is none.
        public let row: Row?
        /// The events.
        public let because: [Cause]
    }

    /// An event that caused a row.
    public struct Cause: Codable, Hashable, Sendable {
        /// The event.
        public let position: Position
        /// When it took effect.
        public let effective: Instant
        /// When the log recorded it, on the ledger's clock.
        public let recordedAt: Instant
        /// What it is about.
        public let kind: String
        /// A short summary of its content.
        public let what: String
        /// The channel it came by.
        public let source: String?
        /// Why it is believed.
        public let trust: String?
    }
}
