internal import Events

/// One subscription's rows of two builds, compared: all counts, and the source of a sample.
struct StreamComparison {
    let rows: StreamRows
    /// What changed in each table; tables without a change are left out.
    let tables: [ChangedRows]
    let access: AccessDifference
    let oldSpans: [AccessSpan]?
    let newSpans: [AccessSpan]?
    /// By the tables' ranks, then by currency; rarely more than two currencies in each table.
    let allMoney: [StreamDifference.Money]

    init(_ rows: StreamRows, in tables: [ComparedTable], moneyTables: [Int]) {
        self.rows = rows
        self.tables = rows.tables.sorted { $0.table < $1.table }
            .map { ChangedRows($0, in: tables[$0.table]) }
            .filter { !$0.isEmpty }
        let withAccess = rows.tables.first { tables[$0.table].access != nil }
        if let withAccess, let columns = tables[withAccess.table].access {
            let old = withAccess.old.compactMap { AccessSpan($0, columns) }
            let new = withAccess.new.compactMap { AccessSpan($0, columns) }
            access = AccessDifference(from: old.map(\.time), to: new.map(\.time))
            (oldSpans, newSpans) = (old, new)
        } else {
            access = AccessDifference(from: [], to: [])
            (oldSpans, newSpans) = (nil, nil)
        }
        allMoney = moneyTables.enumerated().flatMap { rank, table in
            let sides = rows.tables.first { $0.table == table }
            return sides.flatMap { MoneySums($0, tables[table].money) }?
                .differences(of: tables[table].name, rank: rank) ?? []
        }
    }

    /// The money of the first table in which it differs.
    var money: [StreamDifference.Money] { allMoney.filter { $0.rank == allMoney.first?.rank } }

    /// The money of the other tables.
    var otherMoney: [StreamDifference.Money] {
        allMoney.filter { $0.rank != allMoney.first?.rank }
    }

    /// How many rows changed, in all tables.
    var rowsChanged: Int { tables.reduce(0) { $0 + $1.rows.count } }

    /// Whether the two sides are the same.
    var isEmpty: Bool { tables.isEmpty }
}

/// What changed in one table.
struct ChangedRows {
    let table: ComparedTable
    let sides: StreamRows.Sides
    private(set) var rows: [Row] = []
    let reordered: Int

    /// A changed row by its indices in both sides.
    struct Row {
        let old: Int?
        let new: Int?
        /// Indices into the table's `kinds`.
        let kinds: [Int]
        /// Indices into the table's `columns`.
        let columns: [Int]
    }

    init(_ sides: StreamRows.Sides, in table: ComparedTable) {
        self.table = table
        self.sides = sides
        let matching = RowMatching(sides.old, sides.new, by: table.identities)
        reordered = matching.reordered
        rows = matching.removed.map {
            Row(old: $0, new: nil, kinds: [ComparedTable.removed], columns: [])
        }
        for pair in matching.pairs {
            let (old, new) = (sides.old[pair.old].values, sides.new[pair.new].values)
            let columns = old.indices.filter { !old[$0].isSame(as: new[$0]) }
            let kinds = table.kinds(ofColumns: columns)
            rows.append(Row(old: pair.old, new: pair.new, kinds: kinds, columns: columns))
        }
        rows += matching.added.map {
            Row(old: nil, new: $0, kinds: [ComparedTable.added], columns: [])
        }
    }

    var isEmpty: Bool { rows.isEmpty && reordered == 0 }

    /// The rows by their instant; at the same instant removed, changed and added ones, then by
    /// their bytes.
    var rowsInOrder: [Row] {
        rows.enumerated().sorted { left, right in
            let (first, second) = (instant(left.element), instant(right.element))
            return first == second
                ? left.offset < right.offset : first ?? .min < second ?? .min
        }.map(\.element)
    }

    var firstInstant: Instant? {
        rows.compactMap(instant).min().map(Instant.init(milliseconds:))
    }

    private func instant(_ row: Row) -> Int64? {
        let rows = [row.old.map { sides.old[$0] }, row.new.map { sides.new[$0] }]
        return rows.compactMap { $0.flatMap(table.instant(of:))?.milliseconds }.min()
    }

    func change(_ row: Row) -> StreamDifference.Change {
        StreamDifference.Change(
            table: table,
            kinds: row.kinds.map { table.kinds[$0] },
            columns: row.columns.map { table.columns[$0] },
            old: row.old.map { sides.old[$0] },
            new: row.new.map { sides.new[$0] }
        )
    }
}

/// The money of both sides by currency.
private struct MoneySums {
    // In the order of the currency's bytes, no currency first; a subscription has one or two of
    // them. 128 bits, so no sum of amounts overflows.
    private var sums: [(currency: String?, milliunits: Int128)] = []

    init?(_ sides: StreamRows.Sides, _ columns: ComparedTable.Money?) {
        guard let columns else { return nil }
        let sign: Int128 = columns.isGivenBack ? -1 : 1
        for row in sides.new { add(row, columns, sign: sign) }
        for row in sides.old { add(row, columns, sign: -sign) }
    }

    private mutating func add(_ row: ProjectionRow, _ columns: ComparedTable.Money, sign: Int128) {
        guard let amount = row.values[columns.amount].integer else { return }
        var currency: String?
        if case .text(let word) = row.values[columns.currency] { currency = word }
        let index = sums.firstIndex { !areInOrder($0.currency, currency) } ?? sums.endIndex
        if index == sums.endIndex || areInOrder(currency, sums[index].currency) {
            sums.insert((currency, 0), at: index)
        }
        sums[index].milliunits += sign * Int128(amount)
    }

    func differences(of projection: String, rank: Int) -> [StreamDifference.Money] {
        sums.filter { $0.milliunits != 0 }.map {
            StreamDifference.Money(
                projection: projection,
                currency: $0.currency,
                milliunits: Int64(clamping: $0.milliunits),
                rank: rank
            )
        }
    }
}

/// Whether a currency sorts before another one: by bytes, no currency before all others.
func areInOrder(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, let right): right != nil
    case (_, nil): false
    case (let left?, let right?): byBytes(left, right) ?? false
    }
}
