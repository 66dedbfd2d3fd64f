import Events
import TestSupport
import Testing

/// How repetitions are encoded: a set that is restored exactly, in a few bytes each.
struct ConfirmationRowTests {
    private let stream = StreamID(environment: .production, originalTransactionId: "1")

    /// The example of schema/README.md.
    @Test func `two repetitions from a poll encode to these bytes`() throws {
        let confirmations = [Int64(7), 9].map { offset in
            Confirmation(
                position: Position(lane: .only, offset: offset),
                asOf: Instant(milliseconds: 1_700_000_000_000),
                fields: [FieldSet([.productId, .price])].reduce([]) { $0.union($1) },
                transactionId: offset == 9 ? "T2" : "",
                evidence: 5
            )
        }
        let rows = ConfirmationRow.rows(of: confirmations, stream: stream)
        let row = try #require(rows.first)
        #expect(rows.count == 1 && row.evidence == 5 && row.transactionIds == ["T2"])
        #expect(row.asOf == Instant(milliseconds: 1_700_000_000_000))
        // One set of fields, 2^3 + 2^12; event 7 by payload 5; event 9 by the same payload, alias
        // 0.
        #expect(hexadecimal(row.repetitions) == "01" + "8820" + "000e0000" + "0004000100")
        #expect(row.confirmations(lane: .only) == confirmations)
    }

    @Test func `a repetition that a row states several times is read once`() throws {
        // 2^3; event 7 by payload 5, then the same again and again.
        let row = ConfirmationRow(
            stream: stream,
            asOf: Instant(milliseconds: 1_700_000_000_000),
            evidence: 5,
            repetitions: [0x01, 0x08, 0, 0x0e, 0, 0] + Array(repeating: 0, count: 4 * 300_000),
            transactionIds: []
        )
        #expect(row.confirmations(lane: .only)?.map(\.position.offset) == [7])
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `random sets are restored in any order, each repetition once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let set = Set(
                (0..<Int.random(in: 1...40, using: &random)).map { _ in
                    Confirmation(
                        position: Position(
                            lane: Lane(3),
                            offset: .random(in: 1...Int64.max, using: &random)
                        ),
                        asOf: Instant(
                            milliseconds: .random(in: -200_000...200_000, using: &random)
                        ),
                        fields: FieldSet(rawValue: Bool.random(using: &random) ? random.next() : 9),
                        transactionId: Bool.random(using: &random) ? "T\(random.next() % 3)" : "",
                        evidence: .random(in: 1...Int64.max / 2, using: &random)
                    )
                }
            )
            let rows = ConfirmationRow.rows(of: set.shuffled(using: &random), stream: stream)
            #expect(rows == ConfirmationRow.rows(of: Array(set), stream: stream), "seed \(seed)")
            let back = try rows.flatMap { row in
                let found = try #require(row.confirmations(lane: Lane(3)))
                #expect(found.map(\.asOf).min() == row.asOf)
                #expect(found.map(\.evidence).min() == row.evidence)
                let latest = try #require(found.map(\.asOf.milliseconds).max())
                let span = latest - row.asOf.milliseconds
                #expect(span <= ConfirmationRow.spanMillisecondsMax)
                return found
            }
            #expect(Set(back) == set && back.count == set.count, "seed \(seed)")
        }
    }

    @Test func `bytes that our encoder never writes are refused, and no number overflows`() {
        for bytes: [UInt8] in [
            [], [1], [0, 0], [1, 8, 0], [1, 8, 0, 2, 0, 2], [1, 8, 0, 2, 0, 1, 0],
            [2, 8, 0, 2, 0, 0], [1, 8] + [UInt8](repeating: 0xff, count: 30),
        ] {
            let row = ConfirmationRow(
                stream: stream,
                asOf: Instant(milliseconds: .max),
                evidence: .max,
                repetitions: bytes,
                transactionIds: []
            )
            #expect((row.confirmations(lane: .only) ?? []).isEmpty, "\(bytes)")
        }
    }
}
