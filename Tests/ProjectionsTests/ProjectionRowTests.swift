import Events
import Projections
import TestSupport
import Testing

/// The bytes of a row, and the values that they encode.
@Suite struct ProjectionRowTests {
    @Test func `a row returns the values it was made from`() {
        for seed in UInt64(1)...500 {
            var random = SeededGenerator(seed: seed)
            let values = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                random.columnValue()
            }
            let row = ProjectionRow(values: values, positions: [])
            #expect(row.values == values, "seed \(seed)")
            #expect(ProjectionRow(values: row.values, positions: []) == row, "seed \(seed)")
        }
    }

    @Test func `a row that grows beyond its usual size keeps its earlier values`() {
        let long = String(repeating: "monthly ", count: 4000)
        let values: [ColumnValue] = [
            .text("first"), .text(long), .integer(-1), .texts([long, "", long]), .boolean(false),
        ]
        #expect(ProjectionRow(values: values, positions: []).values == values)
    }

    @Test func `texts that are equal only under Unicode equivalence make two rows`() {
        let (one, two) = ("caf\u{e9}", "cafe\u{301}")
        #expect(one == two)
        #expect(
            ProjectionRow(values: [.text(one)], positions: [])
                != ProjectionRow(values: [.text(two)], positions: [])
        )
    }
}

extension SeededGenerator {
    fileprivate mutating func columnValue() -> ColumnValue {
        switch Int.random(in: 0...7, using: &self) {
        case 0: .null
        case 1: .integer(.random(in: .min ... .max, using: &self))
        case 2: .int32(.random(in: .min ... .max, using: &self))
        case 3: .boolean(.random(using: &self))
        case 4: .text(text())
        case 5: .timestamp(Instant(milliseconds: .random(in: .min ... .max, using: &self)))
        case 6: .integers((0..<Int.random(in: 0...4, using: &self)).map { Int64($0) - 2 })
        default: .texts((0..<Int.random(in: 0...4, using: &self)).map { _ in text() })
        }
    }

    private mutating func text() -> String {
        String(repeating: "é1", count: .random(in: 0...30, using: &self))
    }
}
