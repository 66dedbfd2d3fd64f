/// What the rows of a projection mean in a comparison of two builds: which rows of both stand for
/// the same thing, and how a change of that thing is named.
///
/// Columns are given by name; a name that one of the two tables lacks is ignored everywhere, so one
/// declaration serves for tables of several versions.
public struct RowComparison: Sendable {
    /// The word for a row with which its kinds of change begin: `period` gives `period-added`,
    /// `period-removed` and `period-changed`.
    public let noun: String
    /// What two rows must have in common to stand for the same thing, the strictest condition
    /// first.
    ///
    /// Equal rows are paired first; each condition then pairs rows that the previous ones left.
    /// Without conditions, rows that are not equal are different things.
    public let identities: [[IdentityPart]]
    /// The name for a change of some columns; columns without an aspect give `<noun>-changed`.
    public let aspects: [Aspect]
    /// The columns with the time of access; nil if a row has none.
    public let access: AccessColumns?
    /// The columns with the amount of money; nil if a row has none.
    public let money: MoneyColumns?
    /// The column with the instant that a row is about, at which an explanation begins.
    public let instant: String?

    /// A declaration with these parts, `aspects` as the columns of each kind; with only a noun,
    /// every difference is a row added or removed.
    public init(
        _ noun: String = "row",
        identities: [[IdentityPart]] = [],
        aspects: KeyValuePairs<String, [String]> = [:],
        access: AccessColumns? = nil,
        money: MoneyColumns? = nil,
        instant: String? = nil
    ) {
        self.noun = noun
        self.identities = identities
        self.aspects = aspects.map { Aspect(kind: $0.key, columns: $0.value) }
        self.access = access
        self.money = money
        self.instant = instant
    }

    /// Something that two rows must have in common.
    public enum IdentityPart: Hashable, Sendable {
        /// The value of a column.
        case column(String)
        /// Whether a column contains that text: a grace is never the same thing as a purchase.
        case holds(String, text: String)
    }

    /// A kind of change: some columns of matching rows have different values.
    public struct Aspect: Hashable, Sendable {
        /// Its machine-readable word.
        public let kind: String
        /// The columns, any of which may differ.
        public let columns: [String]
    }

    /// The columns of a half-open time with access.
    public struct AccessColumns: Hashable, Sendable {
        /// The first instant with access.
        public let from: String
        /// The first instant without access.
        public let to: String
        /// What marks it as a grace period, for pictures; nil if nothing does.
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
        /// Milliunits, negative if refunded unless `isGivenBack`; NULL counts as zero.
        public let amount: String
        /// ISO 4217 code.
        public let currency: String
        /// Whether the rows are a journal of all money that moved.
        ///
        /// If its money differs, only the journal counts, because other tables contain the same
        /// money again.
        public let isJournal: Bool
        /// Whether the amounts are refunds without a minus sign, so a greater amount means less
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
    package static func columns(_ names: String...) -> [RowComparison.IdentityPart] {
        names.map { .column($0) }
    }
}
