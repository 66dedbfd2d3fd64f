import Events
import Projections
import TestSupport
import Testing

/// The table `customers`: who owned a subscription when, according to its own events.
@Suite struct CustomersTableTests {
    private func rows(_ text: String) throws -> [[ColumnValue]] {
        let facts = try ClaimText.facts(text)
        let projection = try #require(allProjections.first { $0.name == "customers" })
        func values(_ facts: [Fact]) -> [[ColumnValue]] {
            let ledger = MemoryLedger([facts])
            return ledger.streams.flatMap {
                projection.acceptedRows(of: ledger.timeline(of: $0)).map(\.values)
            }
        }
        let told = values(facts)
        #expect(values(facts.reversed()) == told)
        return told
    }

    private func start(_ day: String) throws -> ColumnValue {
        ColumnValue(timestamp: try TimelineText.instant(day))
    }

    @Test func `a link adds the customer to the token, which stays after the unlink`() throws {
        let found = try rows(
            """
            1000 @01-01 buys month 01-01 token=t1
            1000 @03-01 link anna
            1000 @05-01 unlink
            """
        )
        #expect(
            found == [
                [.null, .text("t1"), ColumnValue(timestamp: .epoch), try start("03-01")],
                [.text("anna"), .text("t1"), try start("03-01"), try start("05-01")],
                [.null, .text("t1"), try start("05-01"), .null],
            ]
        )
    }

    @Test func `an unclaimed subscription has no row, and a contested link moves none`() throws {
        #expect(try rows("1000 @01-01 buys month 01-01").isEmpty)
        let found = try rows(
            """
            1000 @01-01 buys month 01-01
            1000 @03-01 link anna
            1000 @04-01 link ben
            """
        )
        #expect(found == [[.text("anna"), .null, try start("03-01"), .null]])
    }
}
