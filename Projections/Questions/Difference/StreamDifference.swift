public import Events

/// What two builds say differently about one subscription.
public struct StreamDifference: Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The times with access that only one side has.
    public let access: AccessDifference
    /// The times with access on the old side, by row; nil where the tables do not differ in them.
    public let oldSpans: [AccessSpan]?
    /// The same on the new side.
    public let newSpans: [AccessSpan]?
    /// By how much the money of the subscription is more or less, by currency: of the first table
    /// in which it is, a journal before others.
    public let money: [Money]
    /// The same of the other tables, which may tell of that money again: never added to `money`.
    public let otherMoney: [Money]
    /// The rows that changed, in the order of tables, then removed, changed and added ones, each by
    /// their instant.
    public let changes: [Change]
    /// How many more changed than are in `changes`.
    public let changesOmitted: Int
    /// The first instant at which the two sides differ: where access does, else the first that a
    /// changed row is about; nil where no row tells one.
    public let firstInstant: Instant?

    /// Most changes that are kept of one subscription: what somebody can read.
    public static let changesMax = 50

    /// One row that changed.
    public struct Change: Sendable {
        /// The index of its table.
        public let table: Int
        /// What happened to it: machine words of `ComparedTable.kinds`.
        public let kinds: [String]
        /// The columns that have other values; empty where the row is added or removed.
        public let columns: [String]
        /// The row on the old side; nil where it is added.
        public let old: ProjectionRow?
        /// The row on the new side; nil where it is removed.
        public let new: ProjectionRow?
    }

    /// The difference of an amount of money.
    public struct Money: Hashable, Sendable {
        /// The index of the table that tells it.
        public let table: Int
        /// ISO 4217; nil where no row said.
        public let currency: String?
        /// New less old, never 0.
        public let milliunits: Int64

        // The table's place among those that tell of money, the one that counts first.
        let rank: Int
    }

    /// The times with access on the old side, ascending, touching ones merged; nil where the tables
    /// do not differ in them.
    public var oldActive: [Range<Instant>]? { oldSpans?.map(\.time).merged }

    /// The same on the new side.
    public var newActive: [Range<Instant>]? { newSpans?.map(\.time).merged }

    /// How long only one side had access, in milliseconds.
    public var accessMilliseconds: Int64 {
        access.gained.length.addingUpToMax(access.lost.length)
    }

    /// How many rows changed.
    public var rowsChanged: Int { changes.count + changesOmitted }

    /// What happened to a table's rows as a whole, for a stream whose rows only stand in another
    /// order: nothing that `changes` could show.
    public var isOnlyReordered: Bool { rowsChanged == 0 }
}

extension [Range<Instant>] {
    /// How long these disjoint intervals are together, in milliseconds.
    public var length: Int64 { reduce(0) { $0.addingUpToMax($1.milliseconds) } }
}

extension StreamDifference {
    init(_ comparison: StreamComparison) {
        stream = comparison.rows.stream
        access = comparison.access
        oldSpans = comparison.oldSpans
        newSpans = comparison.newSpans
        money = comparison.money
        otherMoney = comparison.otherMoney
        var changes: [Change] = []
        for changed in comparison.tables {
            for row in changed.rowsInOrder.prefix(StreamDifference.changesMax - changes.count) {
                changes.append(changed.change(row))
            }
        }
        self.changes = changes
        changesOmitted = comparison.rowsChanged - changes.count
        firstInstant =
            [access.lost.first, access.gained.first].compactMap { $0?.lowerBound }.min()
            ?? comparison.tables.compactMap(\.firstInstant).min()
    }
}
