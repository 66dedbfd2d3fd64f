import Events
import Projections
import TestSupport
import Testing

/// Laws of the difference between any two builds.
@Suite struct DifferenceLawTests {
    @Test(arguments: Acceptance.seeds(300))
    func `the order of subscriptions, rows or additions never changes the difference`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let streams = (1...12).map { RandomSides.stream("\($0)", &random) }
        let expected = RandomSides.text(of: streams, samplesMax: 4)
        for _ in 0..<4 {
            let others = streams.shuffled(using: &random).map {
                RandomSides.shuffled($0, &random)
            }
            let isSame = RandomSides.text(of: others, samplesMax: 4) == expected
            #expect(isSame, "seed \(seed)")
            let middle = Int.random(in: 0...others.count, using: &random)
            var sum = RandomSides.difference(of: others[..<middle], samplesMax: 4)
            sum.add(RandomSides.difference(of: others[middle...], samplesMax: 4))
            let isSameSum = RandomSides.text(sum) == expected
            #expect(isSameSum, "seed \(seed), \(middle) and the others")
        }
    }

    @Test(arguments: Acceptance.seeds(500))
    func `a plain model predicts the difference`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let streams = (1...6).map { RandomSides.stream("\($0)", &random) }
        let difference = RandomSides.difference(of: streams[...], samplesMax: 6)
        let plain = PlainDifference(streams)
        #expect(difference.streamsChanged == plain.streamsChanged, "seed \(seed)")
        #expect(difference.production.access.gained == plain.gained, "seed \(seed)")
        #expect(difference.production.access.lost == plain.lost, "seed \(seed)")
        let words = Set(difference.totals[0].words)
        #expect(words == plain.words, "seed \(seed)")
        #expect(difference.moneyWords == plain.moneyWords, "seed \(seed)")
        // The difference itself counts the rows; `words` proves that the counts are right.
        let rows = Dictionary(
            uniqueKeysWithValues: difference.samples.map {
                ($0.stream.originalTransactionId, $0.rowsChanged)
            }
        )
        let isRanked =
            difference.samples.map(\.stream.originalTransactionId) == plain.ranking(rows: rows)
        #expect(isRanked, "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(200))
    func `in the opposite direction, what was gained is lost`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let streams = (1...6).map { RandomSides.stream("\($0)", &random) }
        let there = RandomSides.difference(of: streams[...], samplesMax: 2)
        let back = RandomSides.difference(of: streams.map(RandomSides.swapped)[...], samplesMax: 2)
        #expect(there.production.access.gained == back.production.access.lost, "seed \(seed)")
        #expect(there.production.access.lost == back.production.access.gained, "seed \(seed)")
        #expect(
            there.production.money.map(\.gained) == back.production.money.map(\.lost),
            "seed \(seed)"
        )
        #expect(there.streamsChanged == back.streamsChanged, "seed \(seed)")
        #expect(there.totals.map(\.rowsChanged) == back.totals.map(\.rowsChanged), "seed \(seed)")
        let isMirrored =
            Set(there.totals[0].words) == Set(back.totals[0].words.map(RandomSides.mirrored))
        #expect(isMirrored, "seed \(seed)")
    }
}

/// Random rows for both sides, with few values, so that many of them are equal.
enum RandomSides {
    static let tables = TestRow.tables(["active_periods", "movements"])

    static func stream(_ id: String, _ random: inout SeededGenerator) -> StreamRows {
        let old = (0..<Int.random(in: 0...5, using: &random)).map { _ in period(&random) }
        // Some rows stay, some change a little, some are removed, some are added.
        var new: [ProjectionRow] = []
        for row in old {
            switch Int.random(in: 0...3, using: &random) {
            case 0: break
            case 1: new.append(period(&random))
            default: new.append(row)
            }
        }
        if Bool.random(using: &random) { new.append(period(&random)) }
        var stream = TestRow.stream(id, old: old, new: new)
        stream.tables.append(
            .init(table: 1, old: movements(&random), new: movements(&random))
        )
        return stream
    }

    private static func period(_ random: inout SeededGenerator) -> ProjectionRow {
        let from = Int64.random(in: 1...4, using: &random)
        return TestRow.period(
            from,
            to: from + Int64.random(in: 0...6, using: &random),
            product: Bool.random(using: &random) ? "a" : "b",
            expires: Int64.random(in: 5...7, using: &random),
            kind: ["trial", "paid", "grace"].randomElement(using: &random) ?? "",
            reason: ["expired", "refunded"].randomElement(using: &random) ?? ""
        )
    }

    private static func movements(_ random: inout SeededGenerator) -> [ProjectionRow] {
        (0..<Int.random(in: 0...2, using: &random)).map { _ in
            TestRow.movement(
                Int64.random(in: 1...3, using: &random),
                Int64.random(in: -2...2, using: &random),
                ["EUR", "USD", nil].randomElement(using: &random) ?? nil
            )
        }
    }

    static func shuffled(_ rows: StreamRows, _ random: inout SeededGenerator) -> StreamRows {
        var rows = rows
        for index in rows.tables.indices {
            // A changed order is reported separately, so the order stays the same here.
            let order = rows.tables[index].old == rows.tables[index].new
            rows.tables[index].old.shuffle(using: &random)
            if order {
                rows.tables[index].new = rows.tables[index].old
            } else {
                rows.tables[index].new.shuffle(using: &random)
            }
        }
        rows.tables.shuffle(using: &random)
        return rows
    }

    static func swapped(_ rows: StreamRows) -> StreamRows {
        var rows = rows
        rows.tables = rows.tables.map { .init(table: $0.table, old: $0.new, new: $0.old) }
        return rows
    }

    static func mirrored(_ words: String) -> String {
        if words.hasPrefix("period-added") { return words.replacing("added", with: "removed") }
        return words.replacing("removed", with: "added")
    }

    static func difference(
        of streams: ArraySlice<StreamRows>,
        samplesMax: Int
    ) -> ProjectionDifference {
        var difference = ProjectionDifference(tables, samplesMax: samplesMax)
        for stream in streams { difference.add(stream) }
        return difference
    }

    static func text(of streams: [StreamRows], samplesMax: Int) -> String {
        text(difference(of: streams[...], samplesMax: samplesMax))
    }

    /// Everything in a difference except reorderings, which depend on how rows were shuffled.
    static func text(_ difference: ProjectionDifference) -> String {
        let totals = difference.totals.map { total in
            let words = total.words.filter { !$0.contains("reordered") }
            let columns = total.changedColumns.map { "\($0.column) \($0.rows)" }
            return "\(words) \(columns) \(total.rowsChanged)"
        }
        let samples = difference.samples.filter { !$0.isOnlyReordered }.map { sample in
            let changes = sample.changes.map { change in
                "\(change.kinds) \(change.old.map { "\($0.values)" } ?? "-") "
                    + "\(change.new.map { "\($0.values)" } ?? "-")"
            }
            return "\(sample.stream) \(sample.access) \(sample.money) \(changes) "
                + "\(sample.firstInstant.map(\.description) ?? "-")"
        }
        return "\(totals) \(difference.production.access) \(difference.moneyWords) \(samples)"
    }
}

/// The difference by plain counting: access instant by instant, rows claim by claim.
struct PlainDifference {
    private(set) var gained: Int64 = 0
    private(set) var lost: Int64 = 0
    private(set) var streamsChanged = 0
    private var rows: [String: Int] = [:]
    private var streams: [String: Int] = [:]
    private var money: [String: (Int64, Int64)] = [:]
    private var ranks: [(access: Int64, money: Int64, id: String)] = []

    var words: Set<String> { Set(rows.map { "\($0) \($1)/\(streams[$0] ?? 0)" }) }

    var moneyWords: [String] {
        ["?", "EUR", "USD"].compactMap { word in
            money[word].map { "\(word) +\($0.0) -\($0.1)" }
        }
    }

    func ranking(rows: [String: Int]) -> [String] {
        ranks.sorted { one, other in
            let (count, otherCount) = (rows[one.id] ?? 0, rows[other.id] ?? 0)
            return (other.access, other.money, otherCount, one.id)
                < (one.access, one.money, count, other.id)
        }.map(\.id)
    }

    init(_ all: [StreamRows]) {
        for stream in all {
            let periods = stream.tables[0]
            var kinds = PlainDifference.kinds(periods.old, periods.new)
            let isReordered = kinds.isEmpty && periods.old != periods.new
            if isReordered {
                let moved = zip(periods.old, periods.new).count { $0 != $1 }
                kinds["periods-reordered"] = moved
            }
            let haveMoved =
                stream.tables[1].old.map(\.values) != stream.tables[1].new.map(\.values)
            guard !kinds.isEmpty || haveMoved else { continue }
            streamsChanged += 1
            for (kind, count) in kinds {
                rows[kind, default: 0] += count
                streams[kind, default: 0] += 1
            }
            let access = PlainDifference.access(periods.old, periods.new)
            gained += access.gained
            lost += access.lost
            var moneyRank: Int64 = 0
            for (currency, amount) in PlainDifference.money(stream.tables[1]) where amount != 0 {
                let total = money[currency, default: (0, 0)]
                money[currency] = (total.0 + max(0, amount), total.1 + max(0, -amount))
                moneyRank += abs(amount)
            }
            ranks.append(
                (access.gained + access.lost, moneyRank, stream.stream.originalTransactionId)
            )
        }
    }

    private static func money(_ sides: StreamRows.Sides) -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for (rows, sign) in [(sides.new, Int64(1)), (sides.old, -1)] {
            for row in rows {
                guard case .integer(let amount) = row.values[10] else { continue }
                var currency = "?"
                if case .text(let word) = row.values[11] { currency = word }
                sums[currency, default: 0] += sign * amount
            }
        }
        return sums
    }

    private static func access(
        _ old: [ProjectionRow],
        _ new: [ProjectionRow]
    ) -> (gained: Int64, lost: Int64) {
        var counts: (gained: Int64, lost: Int64) = (0, 0)
        for instant in Int64(0)...20 {
            let (had, has) = (holds(old, instant), holds(new, instant))
            if has, !had { counts.gained += 1 }
            if had, !has { counts.lost += 1 }
        }
        return counts
    }

    private static func holds(_ rows: [ProjectionRow], _ instant: Int64) -> Bool {
        rows.contains { row in
            guard case .timestamp(let from) = row.values[3],
                case .timestamp(let to) = row.values[4]
            else { return false }
            return from.milliseconds <= instant && instant < to.milliseconds
        }
    }

    private static func kinds(_ old: [ProjectionRow], _ new: [ProjectionRow]) -> [String: Int] {
        // purchase 1, expiry 2, product 0; -1 stands for "is a grace".
        let demands = [[0, 1, 2, 3, 4, 5, 6], [1, 2, 0, -1], [1, 0, -1], [1, -1], [2, 0, -1]]
        let aspects = [
            "period-moved": [3, 4], "end-reason-changed": [6], "product-changed": [0],
            "kind-changed": [5], "period-changed": [1, 2],
        ]
        var (left, right) = (inOrder(old), inOrder(new))
        var kinds: [String: Int] = [:]
        for demand in demands {
            for row in left {
                guard let index = right.firstIndex(where: { key($0, demand) == key(row, demand) })
                else { continue }
                let partner = right.remove(at: index)
                left.remove(at: left.firstIndex { $0 == row } ?? 0)
                for (kind, columns) in aspects
                where columns.contains(where: { row.values[$0] != partner.values[$0] }) {
                    kinds[kind, default: 0] += 1
                }
            }
        }
        if !right.isEmpty { kinds["period-added"] = right.count }
        if !left.isEmpty { kinds["period-removed"] = left.count }
        return kinds
    }

    // Of equally good partners the first by its bytes.
    private static func inOrder(_ rows: [ProjectionRow]) -> [ProjectionRow] {
        rows.sorted { $0.canonicalBytes.lexicographicallyPrecedes($1.canonicalBytes) }
    }

    private static func key(_ row: ProjectionRow, _ demand: [Int]) -> [ColumnValue] {
        demand.map { $0 < 0 ? .boolean(row.values[5] == .text("grace")) : row.values[$0] }
    }
}
