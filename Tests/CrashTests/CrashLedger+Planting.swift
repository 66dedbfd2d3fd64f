import Postgres

extension CrashLedger {
    /// Inserts, as a writer and past the programs, rows that `repair` must remove: an event and
    /// a payload that no commit accounts for, and a segment with a foreign text.
    func plant() async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute("SET ROLE ledger_writer")
        for sql in Self.planting { try await session.execute(sql) }
        await session.close()
    }

    // Far behind the heads, so that appends do not collide with them.
    private static let planting = [
        copy(
            "event",
            "lane_offset",
            "fact_key",
            of: "t.kind NOT LIKE 'eras%' AND length(t.salt) = 16"
        ),
        copy("evidence", "evidence_no", of: "t.body IS NOT NULL"),
        """
        INSERT INTO ledger.evidence_segment
        SELECT lane, decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), '\\x00000000'
        FROM ledger.lane
        """,
    ]

    private static func copy(
        _ table: String,
        _ number: String,
        _ key: String? = nil,
        of condition: String
    ) -> String {
        """
        INSERT INTO ledger.\(table) SELECT (jsonb_populate_record(NULL::ledger.\(table), to_jsonb(t)
            || jsonb_build_object('\(number)', 1000000000 + (random() * 1000000000)::bigint
                \(key.map { ", '\($0)', gen_random_uuid()" } ?? "")))).*
        FROM (SELECT * FROM ledger.\(table) t WHERE \(condition) ORDER BY random() LIMIT 2) t
        """
    }
}
