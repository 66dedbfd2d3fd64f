import Events
import Projections
import TestSupport
import Testing

/// The movements as they became known.
@Suite struct MovementsHistoryTests {
    private static let history = projectionsOnRequest.filter { $0.name == "movements_history" }
    private static let movements = allProjections.filter { $0.name == "movements" }

    @Test func `an amount that was wrong is taken back, and so is an end that was none`() throws {
        let entries = try Self.entries(
            RecordedStory(
                """
                01-01T00:00:05 @01-01 purchase basic 01-01..02-01 woli=1 price=990
                02-10T09:00:00 @02-09 purchase basic 01-01..02-01 woli=1 price=790
                02-12T09:00:00 @02-12 purchase basic 01-01..02-01 woli=1 price=790 revoked=01-20
                """
            ).history
        )
        #expect(
            entries.map(\.text) == [
                "1 paid_start 01-01 990 known 01-01T00:00:05 by [1]",
                "2 correction 01-01 -990 known 02-10T09:00:00 by [2] corrects 1",
                "3 paid_start 01-01 790 known 02-10T09:00:00 by [2]",
                "4 churn_unknown 02-01 - known 02-10T09:00:00 by [2]",
                "5 correction 02-01 - known 02-12T09:00:00 by [3] corrects 4",
                "6 exit_refund 01-20 -790 known 02-12T09:00:00 by [3]",
            ]
        )
    }

    /// Law: what stands at an instant are the movements of what was known then, and so is the
    /// money; and what was written then is never changed.
    @Test func `what stands at an instant are the movements known then`() async throws {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1000)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let history = random.recordedHistory()
            let entries = Self.entries(history)
            for instant in history.instants {
                let known = Self.movements.flatMap {
                    $0.acceptedRows(of: Timeline(history.known(at: instant)))
                }
                let then = entries.filter { $0.knownFrom <= instant }
                let withdrawn = Set(then.compactMap(\.corrects))
                let standing = then.filter {
                    $0.corrects == nil && !withdrawn.contains($0.ordinal)
                }
                let found = standing.map(\.movement.canonicalBytes).sorted(by: Self.isBefore)
                guard found == known.map(\.canonicalBytes).sorted(by: Self.isBefore) else {
                    return ["seed \(number) at \(instant)"]
                }
                let written = Self.entries(history.cut(at: instant)).map(\.row)
                guard written == entries.prefix(written.count).map(\.row),
                    written.count == then.count
                else { return ["seed \(number) at \(instant): changed"] }
            }
            let corrected = entries.compactMap(\.corrects)
            guard Set(corrected).count == corrected.count else { return ["seed \(number): twice"] }
            let isNamed = entries.allSatisfy { entry in
                guard let place = entry.corrects else { return true }
                let other = entries[Int(place) - 1]
                return other.corrects == nil && other.ordinal < entry.ordinal
                    && other.amount.map { 0 - $0 } == entry.amount
            }
            return isNamed ? [] : ["seed \(number): correction"]
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }

    private static func isBefore(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.lexicographicallyPrecedes(other)
    }

    private static func entries(_ history: RecordedHistory) -> [Entry] {
        Self.history.flatMap { projection in
            projection.acceptedRows(of: Timeline(history)).enumerated().map {
                Entry($1, ordinal: $0 + 1, projection)
            }
        }
    }
}

/// A row of the table.
private struct Entry {
    let row: ProjectionRow
    /// The columns that `movements` has too.
    let movement: ProjectionRow
    let ordinal: Int32
    let corrects: Int32?
    let knownFrom: Instant
    let amount: Int64?
    let text: String

    init(_ row: ProjectionRow, ordinal: Int, _ projection: any Projection) {
        let values = Dictionary(uniqueKeysWithValues: zip(projection.columns, row.values))
        self.row = row
        self.ordinal = Int32(ordinal)
        movement = ProjectionRow(values: Array(row.values.dropLast(2)), positions: row.positions)
        corrects = values["corrects_ordinal"]?.int32
        knownFrom = values["known_from"]?.instant ?? .epoch
        amount = values["amount_milliunits"]?.number
        let word = if case .text(let word)? = values["movement"] { word } else { "-" }
        let occurred = values["occurred_at"]?.instant.map(TimelineText.text) ?? "-"
        text =
            "\(ordinal) \(word) \(occurred) \(amount.map(String.init) ?? "-") known "
            + "\(TimelineText.text(knownFrom)) by \(row.positions.map(\.offset))"
            + (corrects.map { " corrects \($0)" } ?? "")
    }
}

extension ColumnValue {
    fileprivate var int32: Int32? { if case .int32(let number) = self { number } else { nil } }
}
