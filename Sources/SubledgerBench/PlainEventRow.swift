import EventLog
import Events
import Postgres

/// A row of `ledger.event` as a plain client would write it.
struct PlainEventRow {
    let values: [PostgresValue]

    init(_ verified: Verified<[Fact]>, _ index: Int, offset: Int64) {
        self.init(
            Event(
                position: Position(lane: .only, offset: offset),
                recordedAt: .systemClock(),
                fact: verified.value[index],
                evidence: offset
            ),
            salt: .random()
        )
    }

    init(_ event: Event, salt: Salt) {
        values = StoredRow.event(
            event,
            key: FactKey(event.fact).bytes,
            salt: salt,
            isLate: false
        )
    }

    static func insert(into table: String) -> String {
        insert(into: table, StoredRow.eventColumns)
    }

    static func copy(into table: String) -> String {
        "COPY \(table) (\(StoredRow.eventColumns)) FROM STDIN (FORMAT BINARY)"
    }

    static func copyEvidence(into table: String) -> String {
        "COPY \(table) (\(StoredRow.evidenceColumns)) FROM STDIN (FORMAT BINARY)"
    }

    static func insertEvidence(into table: String) -> String {
        insert(into: table, StoredRow.evidenceColumns)
    }

    private static func insert(into table: String, _ columns: String) -> String {
        let count = columns.split(separator: ",").count
        let places = (1...count).map { "$\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(columns)) VALUES (\(places))"
    }

    static func evidence(
        _ evidence: Evidence,
        _ packed: EvidencePacking.Packed,
        number: Int64,
        commit: Int64 = 1
    ) -> [PostgresValue] {
        StoredRow.evidence(
            evidence,
            packed,
            number: number,
            commit: Commit(
                lane: 0,
                number: commit,
                firstOffset: 1,
                count: 1,
                firstEvidence: number,
                evidence: 1,
                confirmations: 0,
                committedAt: evidence.receivedAt
            )
        )
    }
}
