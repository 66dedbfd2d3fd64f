import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// What the database itself refuses, and to which roles.
@Suite(.enabled { await TestServer.isAvailable })
struct AppendOnlyTests {
    private static let roles = [
        "ledger_writer", "ledger_reader", "ledger_projector", "ledger_eraser", "ledger_owner", nil,
    ]

    @Test(arguments: Variant.extremes)
    func `no role changes, deletes or empties a table or a partition of it`(
        variant: Variant
    ) async throws {
        try await TamperedLog(variant: variant).withCopy { settings in
            try await Inspector.inspect(settings) { inspector in
                let tables = try await Self.tables(inspector)
                #expect(tables.count == (variant.layout.partitions == 0 ? 17 : 17 + 14 * 4))
                for role in Self.roles {
                    try await inspector.session.execute("SET ROLE \(role ?? "NONE")")
                    for table in tables where !Self.mayBeDeleted(table) {
                        for statement in try await Self.changes(of: table, inspector) {
                            let state = await Self.refusal(of: statement, inspector)
                            #expect(
                                Self.refusals(of: statement, variant, role).contains(state),
                                "\(role ?? "superuser"): \(statement): \(state ?? "accepted")"
                            )
                        }
                    }
                }
            }
            let log = try await EventLog.open(settings, .test())
            try await expectSound(log, settings)
            await log.close()
        }
    }

    @Test(arguments: Variant.extremes)
    func `session_replication_role does not bypass the triggers`(
        variant: Variant
    ) async throws {
        try await TamperedLog(variant: variant).withCopy { settings in
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("SET session_replication_role = replica")
                for table in try await Self.tables(inspector) {
                    let column = try await inspector.texts(
                        """
                        SELECT attname::text FROM pg_attribute
                        WHERE attrelid = 'ledger.\(table)'::regclass AND attnum = 1
                        """
                    ).joined()
                    let update = "UPDATE ledger.\(table) SET \(column) = \(column)"
                    #expect(await Self.refusal(of: update, inspector) == "LG001", "\(table)")
                    guard !Self.mayBeDeleted(table) else { continue }
                    for statement in ["DELETE FROM", "TRUNCATE"] {
                        let sql = "\(statement) ledger.\(table)"
                        #expect(await Self.refusal(of: sql, inspector) == "LG001", "\(table)")
                    }
                }
            }
        }
    }

    // Rejections, and rows that a repair removed, are not part of the log: RejectionTests and
    // RepairTests test who may delete them.
    private static func mayBeDeleted(_ table: String) -> Bool {
        table.hasPrefix("rejection") || table.hasPrefix("repair")
    }

    private static let appended = [
        "catalog", "checkpoint", "commit", "confirmation", "event", "evidence", "evidence_segment",
        "ingestion", "rejection", "rejection_taken", "root_certificate",
    ]

    @Test(arguments: Variant.extremes)
    func `only a writer may insert, and only into the tables that append needs`(
        variant: Variant
    ) async throws {
        try await TamperedLog(variant: variant).withCopy { settings in
            try await Inspector.inspect(settings) { inspector in
                for table in try await Self.tables(inspector) {
                    let mayInsert = Self.appended.contains(table)
                    let privileges = try await Self.privileges(
                        of: "ledger_writer",
                        on: table,
                        inspector
                    )
                    #expect(privileges == (mayInsert ? "INSERT SELECT" : "SELECT"), "\(table)")
                    let reader = try await Self.privileges(
                        of: "ledger_reader",
                        on: table,
                        inspector
                    )
                    #expect(reader == "SELECT", "\(table)")
                    try await inspector.session.execute("SET ROLE ledger_reader")
                    let state = await Self.refusal(
                        of: "INSERT INTO ledger.\(table) DEFAULT VALUES",
                        inspector
                    )
                    #expect(state == "42501", "\(table)")
                    try await inspector.session.execute("SET ROLE NONE")
                }
                let columns = try await inspector.texts(
                    """
                    SELECT table_name || '.' || column_name || ' ' || privilege_type
                    FROM information_schema.column_privileges
                    WHERE table_schema = 'ledger' AND grantee = 'ledger_writer'
                        AND privilege_type NOT IN ('SELECT', 'INSERT')
                    """
                )
                // SELECT … FOR UPDATE asks for it; the trigger refuses its use.
                #expect(columns == ["lane.lane UPDATE"])
                let others = try await inspector.texts(
                    """
                    SELECT DISTINCT r.rolname FROM pg_class c CROSS JOIN pg_roles r
                    WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind IN ('r', 'p')
                        AND NOT r.rolsuper AND r.rolname !~ '^(pg_|ledger_)'
                        -- Roles are the server's: other tests make members of the reader.
                        AND NOT pg_has_role(r.oid, 'ledger_reader', 'USAGE')
                        AND has_table_privilege(r.oid, c.oid, 'SELECT')
                    """
                )
                #expect(others.isEmpty)
                for role in ["ledger_writer", "ledger_reader"] {
                    let create = try await inspector.texts(
                        "SELECT has_schema_privilege('\(role)', 'ledger', 'CREATE')::text"
                    )
                    #expect(create == ["false"])
                }
            }
        }
    }

    @Test(arguments: Variant.all)
    func `a session with only the writer role appends, repeats and reads`(
        variant: Variant
    ) async throws {
        try await variant.withDatabase { settings in
            var writing = settings
            writing.role = "ledger_writer"
            let log = try await EventLog.open(writing, .test())
            _ = try await log.append(verified(TestFacts.transaction(asOf: 1)))
            _ = try await log.append(verified(TestFacts.transaction(asOf: 2)))
            let history = try await log.history(of: TestFacts.transaction().stream)
            #expect(history.events.count == 1)
            #expect(history.confirmations.count == 1)
            let report = try await log.verify()
            #expect(report.isOK)
            await log.close()
        }
    }

    /// A separate login, because a superuser may assume any role.
    @Test func `a login with only the reader role reads and verifies but appends nothing`()
        async throws
    {
        try await TamperedLog(variant: Variant.plain).withCopy { settings in
            let login = "\(settings.database ?? "test")_reader"
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute(
                    "CREATE ROLE \(login) LOGIN IN ROLE ledger_reader PASSWORD 'reader'"
                )
            }
            var reading = settings
            reading.connectionString = try PythonVerifier.conninfo(settings, user: login)
            let log = try await EventLog.open(reading, .test())
            let report = try await log.verify()
            #expect(report.isOK)
            let error = await #expect(throws: EventLogError.self) {
                try await log.append(verified(TestFacts.transaction("new")))
            }
            #expect(error?.code == .permissionDenied)
            await log.close()
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("DROP ROLE \(login)")
            }
        }
    }

    private static func tables(_ inspector: Inspector) async throws -> [String] {
        try await inspector.texts(
            """
            SELECT relname::text FROM pg_class
            WHERE relnamespace = 'ledger'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
            """
        )
    }

    /// Every way to change a table, including indirect ones.
    private static func changes(
        of table: String,
        _ inspector: Inspector
    ) async throws -> [String] {
        let columns = try await inspector.texts(
            """
            SELECT attname::text FROM pg_attribute
            WHERE attrelid = 'ledger.\(table)'::regclass AND attnum > 0 ORDER BY attnum
            """
        )
        let column = columns[0]
        return columns.map { "UPDATE ledger.\(table) SET \($0) = \($0)" } + [
            "UPDATE ledger.\(table) SET \(column) = \(column) WHERE false",
            "DELETE FROM ledger.\(table)",
            "DELETE FROM ONLY ledger.\(table) WHERE false",
            "TRUNCATE ledger.\(table)",
            "TRUNCATE ledger.\(table) CASCADE",
            """
            INSERT INTO ledger.\(table) SELECT * FROM ledger.\(table)
            ON CONFLICT ON CONSTRAINT \(table)_pkey DO UPDATE SET \(column) = excluded.\(column)
            """,
            """
            MERGE INTO ledger.\(table) t USING ledger.\(table) s ON t.\(column) = s.\(column)
            WHEN MATCHED THEN DELETE
            """,
        ]
    }

    /// The SQLSTATE of a refused statement; nil if it was accepted, in which case it is rolled
    /// back.
    private static func refusal(of statement: String, _ inspector: Inspector) async -> String? {
        do throws(PostgresError) {
            try await inspector.session.execute("\(statement); DO $$ BEGIN ASSERT false; END $$")
            return nil
        } catch {
            return error.sqlState == "P0004" ? nil : error.sqlState
        }
    }

    /// The SQLSTATEs that keep the promise; nil for a statement that may be accepted.
    private static func refusals(
        of statement: String,
        _ variant: Variant,
        _ role: String?
    ) -> Set<String?> {
        var states: Set<String?> = ["LG001"]
        if role != nil, role != "ledger_owner" { states.insert("42501") }
        guard variant.isDistributed else { return states }
        // Citus sends a statement that can match no row to no shard, where it would meet a guard,
        // and refuses a MERGE into a table that every server has a copy of.
        if statement.hasSuffix("WHERE false") { states.insert(nil) }
        if statement.hasPrefix("MERGE") { states.insert("0A000") }
        return states
    }

    private static func privileges(
        of role: String,
        on table: String,
        _ inspector: Inspector
    ) async throws -> String {
        try await inspector.texts(
            """
            SELECT coalesce(string_agg(p, ' ' ORDER BY p), '') FROM unnest(
                '{INSERT,SELECT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) p
            WHERE has_table_privilege('\(role)', 'ledger.\(table)', p)
            """
        ).joined()
    }
}
