import EventLog
import Events
import Postgres

/// Rows of the log as a plain client would write them.
enum PlainEventRow {
    /// The first fact of a payload, as an event.
    static func values(_ verified: Verified<[Fact]>, offset: Int64) -> [PostgresValue] {
        let event = Event(
            position: Position(lane: .only, offset: offset),
            recordedAt: .systemClock(),
            fact: verified.value[0],
            evidence: offset
        )
        return values(event, salt: .random())
    }

    static func values(_ event: Event, salt: Salt) -> [PostgresValue] {
        StoredRow.event(event, key: FactKey(event.fact).bytes, salt: salt, isLate: false)
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
