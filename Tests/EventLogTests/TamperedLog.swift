import AppStoreSimulator
import EventLog
import Events
import Postgres
import TestSupport

/// A small log whose every row is known, built once per variant, to be copied and tampered with.
///
/// The target lane has six commits: 1 brings events 1 and 2 from one payload, 2 event 3, 3 only a
/// confirmation of event 1 under another transaction id, 4 events 4 to 6, 5 event 7 and a
/// confirmation of event 3, 6 event 8. With four lanes, the first one is empty.
struct TamperedLog: Sendable {
    let variant: Variant

    /// The lane that is tampered with.
    var lane: Int { variant.lanes == .one ? 0 : 1 }

    /// Two streams of that lane with events, and one without.
    var ids: [String] { variant.ids(inLane: lane, count: 3) }

    func withCopy<R>(_ body: (ConnectionSettings) async throws -> R) async throws -> R {
        try await TestServer.shared.withDatabase(from: template, body)
    }

    private static let tables = [
        "ledger_config", "event", "confirmation", "evidence", "root_certificate",
        "evidence_segment", "commit",
    ]

    /// Remembers all rows, for `mend`.
    func keepACopy(_ settings: ConnectionSettings) async throws {
        let copies = Self.tables.map { "CREATE TABLE kept.\($0) AS TABLE ledger.\($0)" }
        try await Inspector.inspect(settings) { inspector in
            try await inspector.session.execute(
                "CREATE SCHEMA kept; \(copies.joined(separator: ";"))"
            )
        }
    }

    /// Restores all rows; constraints that a mutation dropped stay dropped.
    func mend(_ settings: ConnectionSettings) async throws {
        let restored = Self.tables.map {
            "DELETE FROM ledger.\($0); INSERT INTO ledger.\($0) SELECT * FROM kept.\($0)"
        }
        try await Inspector.inspect(settings) { inspector in
            try await inspector.session.execute(
                "\(Tampering.begin) \(restored.joined(separator: ";"))"
            )
        }
    }

    private var template: TestTemplate {
        TestTemplate("tampered_\(variant.name)") { settings in
            _ = try await Migrator.migrate(settings, variant.layout)
            let log = try await EventLog.open(settings, .test(clock: Self.clock()))
            for (number, facts) in payloads.enumerated() {
                _ = try await log.append(verified(facts, payload: Self.payload(number)))
            }
            await log.close()
        }
    }

    private var payloads: [[Fact]] {
        let (first, second) = (ids[0], ids[1])
        let elsewhere = variant.ids(inLane: variant.lanes.value - 1, count: 1)
        var payloads = [
            [
                TestFacts.transaction(first, asOf: 1),
                TestFacts.transaction(first, purchased: 30, asOf: 1),
            ],
            [TestFacts.transaction(second, asOf: 1)],
            [TestFacts.transaction(first, asOf: 2, transactionId: "restored")],
            [
                TestFacts.notification(first, uuid: "n1", asOf: 3),
                TestFacts.transaction(first, purchased: 60, asOf: 3),
                TestFacts.transaction(second, purchased: 30, asOf: 3),
            ],
            [
                TestFacts.transaction(second, asOf: 4),
                TestFacts.transaction(second, purchased: 60, asOf: 4),
            ],
            [TestFacts.transaction(first, purchased: 90, asOf: 5)],
        ]
        if variant.lanes != .one { payloads.append([TestFacts.transaction(elsewhere[0])]) }
        return payloads
    }

    /// The clock advances by a second at each reading.
    private static func clock() -> @Sendable () -> Instant {
        let seconds = Counter()
        return { Instant(milliseconds: TestClock.noon.milliseconds + seconds.next() * 1000) }
    }

    private static let pki = SimulatedPKI(seed: 11)

    private static func payload(_ number: Int) -> [UInt8] {
        pki.sign(payloadJSON: Array(#"{"number":\#(number),"transactionId":"\#(number)00"}"#.utf8))
    }
}

/// One way to tamper with a log while bypassing the triggers, and the commit that must be named.
struct Mutation: Sendable {
    let name: String
    let sql: String
    let commit: Int64

    init(_ name: String, commit: Int64, _ sql: String) {
        self.name = name
        self.sql = sql
        self.commit = commit
    }

    /// Changes one column of a row.
    private init(_ table: String, _ change: String, where row: String, commit: Int64) {
        self.init(
            "\(table): \(change)",
            commit: commit,
            "UPDATE ledger.\(table) SET \(change) WHERE lane = {lane} AND \(row)"
        )
    }

    func apply(to log: TamperedLog, _ settings: ConnectionSettings) async throws {
        let sql = sql.replacing("{lane}", with: "\(log.lane)")
            .replacing("{stranger}", with: log.ids[2])
        try await Inspector.inspect(settings) { inspector in
            try await inspector.session.execute("\(Tampering.begin) \(sql)")
        }
    }

    static let all = events + commits + confirmations + evidence + rows + configuration

    private static func flipped(_ column: String, byte: String = "0") -> String {
        "\(column) = set_byte(\(column), \(byte), get_byte(\(column), \(byte)) # 1)"
    }

    private static let events =
        [
            "lane_offset = 1000", "recorded_at = recorded_at + interval '1 millisecond'",
            "recorded_at = recorded_at + interval '1 microsecond'", "as_of_ms = as_of_ms + 1",
            "purchase_date_ms = purchase_date_ms + 1000",
            "expires_date_ms = expires_date_ms - 1000", "environment = 'Sandbox'",
            "kind = 'renewal'", "bundle_id = 'example.subledges'", "product_id = 'yearly'",
            "product_id = NULL", "transaction_id = 'x'", "app_account_token = 'x'",
            "app_account_token = NULL", "web_order_line_item_id = 'x'",
            "app_transaction_id = 'x'", "store = 'x'", "is_imported = NOT is_imported",
            "is_late = NOT is_late",
            "fact_key = gen_random_uuid()", "evidence_no = 5", "evidence_no = 40",
            flipped("salt"), "salt = ''", flipped("content"),
            flipped("content", byte: "5"),
            flipped("content", byte: "octet_length(content) - 1"), "content = ''",
            "original_transaction_id = '{stranger}'",
        ].map { Mutation("event", $0, where: "lane_offset = 5", commit: 4) }
        + [
            Mutation("event", "product_id = 'x'", where: "lane_offset = 4", commit: 4),
            Mutation(
                "an event moved to another lane",
                commit: 4,
                """
                ALTER TABLE ledger.event DROP CONSTRAINT event_lane_is_of_stream;
                UPDATE ledger.event SET lane = lane + 1 WHERE lane = {lane} AND lane_offset = 5
                """
            ),
            Mutation(
                "a key with milliseconds",
                commit: 4,
                """
                ALTER TABLE ledger.event DROP CONSTRAINT event_key_in_whole_seconds;
                UPDATE ledger.event SET purchase_date_ms = purchase_date_ms + 1
                WHERE lane = {lane} AND lane_offset = 5
                """
            ),
        ]

    private static let commits =
        [
            "lane = lane + 1", "commit_no = 40", "first_offset = first_offset + 1",
            "count = count - 1", "count = count + 1", "count = 2147483647",
            "confirmations = confirmations + 1", "first_evidence_no = first_evidence_no + 1",
            "evidence = evidence + 1", "evidence = 2147483647", "format = 1", "format = 3",
            "committed_at = committed_at + interval '1 millisecond'",
            "committed_at = committed_at + interval '1 microsecond'",
            "committed_at = committed_at - interval '1 hour'", flipped("digest"),
            flipped("digest", byte: "31"),
        ].map { Mutation("commit", $0, where: "commit_no = 4", commit: 4) }

    private static let confirmations =
        [
            "as_of_ms = as_of_ms + 1", "commit_no = 5", "commit_no = 2", "commit_no = 40",
            "known_from_offset = known_from_offset - 1", "evidence_no = evidence_no - 1",
            "recorded_at = recorded_at + interval '1 millisecond'",
            "environment = 'Sandbox'", "original_transaction_id = '{stranger}'",
            "transaction_ids = ARRAY['x']", "transaction_ids = NULL",
            "transaction_ids = transaction_ids || 'x'::text", flipped("salt"), "salt = ''",
            flipped("repetitions"), flipped("repetitions", byte: "1"), "repetitions = ''",
            flipped("repetitions", byte: "octet_length(repetitions) - 1"),
            "repetitions = repetitions || '\\x00'",
        ].map { change in
            let commit: Int64 = change == "commit_no = 2" ? 2 : 3
            return Mutation("confirmation", change, where: "commit_no = 3", commit: commit)
        } + [
            Mutation(
                "a confirmation moved to another lane",
                commit: 3,
                """
                ALTER TABLE ledger.confirmation DROP CONSTRAINT confirmation_lane_is_of_stream;
                UPDATE ledger.confirmation SET lane = lane + 1
                WHERE lane = {lane} AND commit_no = 3
                """
            )
        ]

    private static let evidence =
        [
            "lane = lane + 1", "byte_count = byte_count + 1", "byte_count = byte_count - 1",
            "received_at = received_at + interval '1 millisecond'",
            "received_at = received_at + interval '1 microsecond'", flipped("digest"),
            "kind = 'signed-notification'", "source = 'tesu'",
            "verification = 'vouched', root_key = NULL", "root_key = root_key + 1",
            "is_imported = NOT is_imported", "commit_no = 3",
            "evidence_no = 40", "context = '{\"trust\":\"vouched\"}'",
            flipped("body"), flipped("body", byte: "octet_length(body) / 2"), "body = ''",
        ].map { change in
            Mutation(
                "evidence",
                change,
                where: "evidence_no = 4",
                commit: 4
            )
        }
        + [
            "lane = lane + 1", flipped("segment_key"), flipped("body"),
            flipped("body", byte: "octet_length(body) / 2"), "body = ''",
        ].map { Mutation("evidence_segment", $0, where: "true", commit: 1) }
        + ["lane = lane + 1", flipped("digest", byte: "31")].map {
            Mutation("root_certificate", $0, where: "true", commit: 1)
        }
}

extension Mutation {
    /// Rows deleted, inserted and swapped.
    private static let rows = [
        Mutation("an event deleted", commit: 4, deleted("event", "lane_offset = 5")),
        Mutation("the first event deleted", commit: 1, deleted("event", "lane_offset = 1")),
        Mutation("the last event deleted", commit: 6, deleted("event", "lane_offset = 8")),
        Mutation("a commit deleted", commit: 4, deleted("commit", "commit_no = 4")),
        Mutation("the first commit deleted", commit: 1, deleted("commit", "commit_no = 1")),
        Mutation("the last commit deleted", commit: 6, deleted("commit", "commit_no = 6")),
        Mutation("all commits deleted", commit: 1, deleted("commit", "true")),
        Mutation("a confirmation deleted", commit: 3, deleted("confirmation", "commit_no = 3")),
        Mutation("all evidence deleted", commit: 1, deleted("evidence", "true")),
        Mutation("all segments deleted", commit: 1, deleted("evidence_segment", "true")),
        Mutation("an event inserted", commit: 7, insertedEvent),
        Mutation("a commit inserted", commit: 7, insertedCommit),
        Mutation("a confirmation inserted", commit: 3, insertedConfirmation(commit: 3)),
        Mutation("a confirmation of no commit", commit: 40, insertedConfirmation(commit: 40)),
        Mutation("a payload inserted", commit: 6, insertedEvidence),
        Mutation("a payload deleted", commit: 3, deleted("evidence", "evidence_no = 3")),
        Mutation("events of a commit exchanged", commit: 4, exchanged(4, 5)),
        Mutation("events of two commits exchanged", commit: 2, exchanged(3, 4)),
    ]

    private static let configuration = [
        Mutation("more lanes", commit: 1, "UPDATE ledger.ledger_config SET lanes = lanes * 2"),
        Mutation(
            "another ledger_id",
            commit: 1,
            "UPDATE ledger.ledger_config SET ledger_id = gen_random_uuid()"
        ),
    ]

    private static func deleted(_ table: String, _ row: String) -> String {
        "DELETE FROM ledger.\(table) WHERE lane = {lane} AND \(row)"
    }

    private static let insertedEvent = inserted(
        "event",
        "lane_offset = 8",
        "lane_offset = 9, as_of_ms = as_of_ms + 1, fact_key = gen_random_uuid()"
    )

    private static let insertedCommit = inserted(
        "commit",
        "commit_no = 6",
        "commit_no = 7, first_offset = first_offset + 1, first_evidence_no = first_evidence_no + 1"
    )

    private static let insertedEvidence = inserted(
        "evidence",
        "evidence_no = 6",
        "evidence_no = 7"
    )

    private static func insertedConfirmation(commit: Int) -> String {
        inserted(
            "confirmation",
            "commit_no = 3",
            "commit_no = \(commit), as_of_ms = as_of_ms + 1"
        )
    }

    // A changed copy of a row.
    private static func inserted(_ table: String, _ row: String, _ change: String) -> String {
        """
        CREATE TEMPORARY TABLE forged AS SELECT * FROM ledger.\(table) WHERE lane = {lane} AND \(row);
        UPDATE forged SET \(change);
        INSERT INTO ledger.\(table) SELECT * FROM forged
        """
    }

    private static func exchanged(_ left: Int, _ right: Int) -> String {
        [(left, 1000), (right, left), (1000, right)].map { from, to in
            """
            UPDATE ledger.event SET lane_offset = \(to)
            WHERE lane = {lane} AND lane_offset = \(from)
            """
        }.joined(separator: ";")
    }
}
