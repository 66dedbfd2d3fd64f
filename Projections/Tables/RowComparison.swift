/// What the rows of a projection are to somebody who compares two builds of it: which rows of both
/// are the same thing, and what it is called when that thing has changed.
///
/// Columns are named; a name that one of the two tables does not have is left out of everything,
/// so that one declaration serves for tables of several versions.
public struct RowComparison: Sendable {
    /// The word for a row with which its kinds of change begin: `period` makes `period-added`,
    /// `period-removed` and `period-changed`.
    public let noun: String
    /// What two rows must have in common to be one thing, the strictest demand first.
    ///
    /// Rows that are equal are paired before; of the others, each demand pairs what the ones before
    /// it left. Without any, rows that are not equal are two things.
    public let identities: [[IdentityPart]]
    /// What a change of some columns is called; the columns of no aspect make `<noun>-changed`.
    public let aspects: [Aspect]
    /// Where a row says from when to when it gave access; nil where it says nothing of that.
    public let access: AccessColumns?
    /// Where a row says what money moved; nil where it says nothing of that.
    public let money: MoneyColumns?
    /// The column with the instant that a row is about: where an explanation begins.
    public let instant: String?

    /// A declaration of these parts; without any but a noun, every difference is a row added or
    /// removed.
    public init(
        _ noun: String = "row",
        identities: [[IdentityPart]] = [],
        aspects: [Aspect] = [],
        access: AccessColumns? = nil,
        money: MoneyColumns? = nil,
        instant: String? = nil
    ) {
        self.noun = noun
        self.identities = identities
        self.aspects = aspects
        self.access = access
        self.money = money
        self.instant = instant
    }

    /// Something that two rows must have in common.
    public enum IdentityPart: Hashable, Sendable {
        /// The value of a column.
        case column(String)
        /// Whether a column holds that text: a grace is never the same thing as a purchase.
        case holds(String, text: String)
    }

    /// A kind of change: some columns of a row that stayed the same thing have other values.
    public struct Aspect: Hashable, Sendable {
        /// Its machine word.
        public let kind: String
        /// The columns, any of them.
        public let columns: [String]

        /// A kind of change of these columns.
        public init(_ kind: String, _ columns: String...) {
            self.kind = kind
            self.columns = columns
        }
    }

    /// The columns of a half-open time with access.
    public struct AccessColumns: Hashable, Sendable {
        /// The first instant with access.
        public let from: String
        /// The first instant without.
        public let to: String
        /// What makes it a grace, for pictures; nil where nothing does.
        public let grace: IdentityPart?

        /// These columns, each a `timestamptz` or a `bigint` of milliseconds.
        public init(from: String, to: String, grace: IdentityPart? = nil) {
            self.from = from
            self.to = to
            self.grace = grace
        }
    }

    /// The columns of an amount of money.
    public struct MoneyColumns: Hashable, Sendable {
        /// Milliunits, negative where given back unless `isGivenBack`; NULL counts as nothing.
        public let amount: String
        /// ISO 4217.
        public let currency: String
        /// Whether the rows are a journal of all money that moved.
        ///
        /// Where its money differs it alone counts, for others tell of the same money again.
        public let isJournal: Bool
        /// Whether the amounts are what was given back, without a minus: more of them is less
        /// money.
        public let isGivenBack: Bool

        /// These columns.
        public init(
            amount: String,
            currency: String,
            isJournal: Bool,
            isGivenBack: Bool = false
        ) {
            self.amount = amount
            self.currency = currency
            self.isJournal = isJournal
            self.isGivenBack = isGivenBack
        }
    }
}

extension [RowComparison.IdentityPart] {
    /// The values of these columns.
    public static func columns(_ names: String...) -> [RowComparison.IdentityPart] {
        names.map { .column($0) }
    }
}
