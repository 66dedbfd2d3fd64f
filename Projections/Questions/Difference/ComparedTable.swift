package import Events

/// Two tables of one projection, as far as they can be compared: the columns that both have.
package struct ComparedTable: Sendable {
    /// The projection's name.
    package let name: String
    /// The version of the fold that built the old table; nil if it is not known, or the table is
    /// missing.
    package let oldVersion: Int?
    /// The version of the fold that built the new table.
    package let newVersion: Int
    /// The columns that both have, in the order of the new table: those of a row's values.
    package let columns: [String]
    /// The columns that only the new table has.
    package let columnsAdded: [String]
    /// The columns that only the old table has.
    package let columnsRemoved: [String]
    /// Every possible kind of change, in listing order.
    package let kinds: [String]

    let identities: [[RowKey.Part]]
    let aspects: [Aspect]
    let access: Access?
    let money: Money?
    let instant: Int?

    // The indexes in `kinds` of the kinds that every table has.
    static let added = 0
    static let removed = 1
    var changed: Int { kinds.count - 2 }
    var reordered: Int { kinds.count - 1 }

    struct Aspect {
        let kind: Int
        let columns: [Int]
    }

    struct Access {
        let from: Int
        let to: Int
        let grace: RowKey.Part?
    }

    struct Money {
        let amount: Int
        let currency: Int
        let isJournal: Bool
        let isGivenBack: Bool
    }

    /// The comparison of two tables with these columns.
    ///
    /// - Parameters:
    ///   - name: The projection's name.
    ///   - oldVersion: The version that built the old table.
    ///   - newVersion: The version that built the new one.
    ///   - oldColumns: The old table's own columns, without those of the stream and `positions`.
    ///   - newColumns: The new table's own columns, likewise.
    ///   - comparison: The meaning of the rows.
    package init(
        name: String,
        oldVersion: Int?,
        newVersion: Int,
        oldColumns: [String],
        newColumns: [String],
        comparison: RowComparison
    ) {
        self.name = name
        self.oldVersion = oldVersion
        self.newVersion = newVersion
        let common = newColumns.filter { oldColumns.contains($0) }
        columns = common
        columnsAdded = newColumns.filter { !common.contains($0) }
        columnsRemoved = oldColumns.filter { !common.contains($0) }
        let noun = comparison.noun
        kinds =
            ["\(noun)-added", "\(noun)-removed"] + comparison.aspects.map(\.kind)
            + ["\(noun)-changed", "\(noun)s-reordered"]
        aspects = comparison.aspects.enumerated().map { index, aspect in
            Aspect(kind: index + 2, columns: aspect.columns.compactMap(common.firstIndex))
        }
        identities = comparison.identities.map { $0.compactMap { RowKey.Part($0, in: common) } }
            .filter { !$0.isEmpty }
        access = Access(comparison.access, in: common)
        money = Money(comparison.money, in: common)
        instant = comparison.instant.flatMap(common.firstIndex)
    }

    /// Whether both tables have the same columns, in any order.
    package var hasSameColumns: Bool { columnsAdded.isEmpty && columnsRemoved.isEmpty }

    /// Whether it contains amounts of money.
    package var hasMoney: Bool { money != nil }

    /// Whether it contains times with access.
    package var hasAccess: Bool { access != nil }

    /// The time with access in a row; nil if there is none.
    package func accessSpan(of row: ProjectionRow) -> AccessSpan? {
        access.flatMap { AccessSpan(row, $0) }
    }

    /// The instant that a row is about; nil if there is none.
    package func instant(of row: ProjectionRow) -> Instant? {
        instant.flatMap { row.values[$0].integer }.map(Instant.init(milliseconds:))
    }

    /// The kinds of a change of these columns.
    func kinds(ofColumns changed: [Int]) -> [Int] {
        var rest = changed
        var kinds: [Int] = []
        for aspect in aspects where aspect.columns.contains(where: changed.contains) {
            kinds.append(aspect.kind)
            rest.removeAll { aspect.columns.contains($0) }
        }
        return rest.isEmpty ? kinds : kinds + [self.changed]
    }
}

extension ComparedTable.Access {
    init?(_ access: RowComparison.AccessColumns?, in columns: [String]) {
        guard let access, let from = columns.firstIndex(of: access.from),
            let to = columns.firstIndex(of: access.to)
        else { return nil }
        self.init(
            from: from,
            to: to,
            grace: access.grace.flatMap { RowKey.Part($0, in: columns) }
        )
    }
}

extension ComparedTable.Money {
    init?(_ money: RowComparison.MoneyColumns?, in columns: [String]) {
        guard let money, let amount = columns.firstIndex(of: money.amount),
            let currency = columns.firstIndex(of: money.currency)
        else { return nil }
        self.init(
            amount: amount,
            currency: currency,
            isJournal: money.isJournal,
            isGivenBack: money.isGivenBack
        )
    }
}

extension [ComparedTable] {
    /// The tables with money, a journal before others: of those whose money differs, the first one
    /// counts.
    var moneyTables: [Int] {
        let withMoney = indices.filter { self[$0].money != nil }
        return withMoney.filter { self[$0].money?.isJournal == true }
            + withMoney.filter { self[$0].money?.isJournal == false }
    }
}
