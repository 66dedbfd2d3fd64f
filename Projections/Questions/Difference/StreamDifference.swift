package import Events

/// How two builds differ about one subscription.
package struct StreamDifference: Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The times with access that only one side has.
    package let access: AccessDifference
    /// The times with access on the old side, by row; nil if the tables do not differ in them.
    package let oldSpans: [AccessSpan]?
    /// The same on the new side.
    package let newSpans: [AccessSpan]?
    /// The change in the money of the subscription, by currency: in the first table that differs, a
    /// journal before others.
    package let money: [Money]
    /// The same for the other tables, which may contain that money again: never added to `money`.
    package let otherMoney: [Money]
    /// The rows that changed, in the order of tables, then removed, changed and added ones, each by
    /// their instant.
    package let changes: [Change]
    /// The number of changed rows that are not in `changes`.
    package let changesOmitted: Int
    /// The first instant at which the two sides differ: where access does, otherwise the first that
    /// a changed row is about; nil if no row has one.
    package let firstInstant: Instant?

    /// The most changes kept for one subscription: as many as a person can read.
    package static let changesMax = 50

    /// One row that changed.
    package struct Change: Sendable {
        /// Its table.
        package let table: ComparedTable
        /// What happened to it: machine-readable words of `ComparedTable.kinds`.
        package let kinds: [String]
        /// The columns with different values; empty if the row is added or removed.
        package let columns: [String]
        /// The row on the old side; nil if it is added.
        package let old: ProjectionRow?
        /// The row on the new side; nil if it is removed.
        package let new: ProjectionRow?
    }

    /// The difference of an amount of money.
    package struct Money: Encodable, Hashable, Sendable {
        /// The table with the money.
        package let projection: String
        /// ISO 4217 code; nil if no row stated it.
        package let currency: String?
        /// New minus old, never 0.
        package let milliunits: Int64

        // The table's place among those with money; the first one counts.
        let rank: Int

        private enum CodingKeys: CodingKey { case projection, currency, milliunits }
    }

    /// The times with access on the old side, ascending, adjacent ones merged; nil if the tables do
    /// not differ in them.
    package var oldActive: [Range<Instant>]? { oldSpans?.map(\.time).merged }

    /// The same on the new side.
    package var newActive: [Range<Instant>]? { newSpans?.map(\.time).merged }

    /// How long only one side had access, in milliseconds.
    package var accessMilliseconds: Int64 {
        access.gained.length.addingUpToMax(access.lost.length)
    }

    /// The number of rows that changed.
    package var rowsChanged: Int { changes.count + changesOmitted }

    /// Whether the rows are the same in another order, which `changes` cannot show.
    package var isOnlyReordered: Bool { rowsChanged == 0 }
}

extension [Range<Instant>] {
    /// The total length of these disjoint intervals, in milliseconds.
    package var length: Int64 { reduce(0) { $0.addingUpToMax($1.milliseconds) } }
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
