import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// The difference between two real builds, one of them altered by hand.
@Suite(.enabled { await TestServer.isAvailable })
struct TableDifferenceTests {
    @Test(arguments: [FilledLedger.plain, FilledLedger.divided])
    func `two builds of one log are equal`(template: TestTemplate) async throws {
        try await withTwoBuilds(from: template) { builds in
            let difference = try await builds.difference()
            #expect(difference.isEqual && difference.samples.isEmpty)
            #expect(difference.streamsCompared == builds.streams)
            #expect(difference.totals.map(\.name) == allProjections.map(\.name))
            // Causes have other positions in another log of the same facts.
            try await builds.alter("UPDATE old.movements SET positions = '{9}'")
            #expect(try await builds.difference().isEqual)
        }
    }

    @Test(arguments: Alteration.all)
    func `an alteration of one table is found, and nothing else`(
        alteration: Alteration
    ) async throws {
        try await withTwoBuilds(from: FilledLedger.plain) { builds in
            try await builds.alter(alteration.sql)
            let difference = try await builds.difference()
            let changed = difference.totals.filter { !$0.changes.isEmpty }
            #expect(changed.map(\.name) == [alteration.table])
            #expect(changed.first?.changes.map(\.kind) == alteration.kinds)
            #expect(difference.streamsChanged == changed.first?.streamsChanged)
            #expect(difference.streamsCompared == builds.streams)
            // Nothing is left in the session that the caller continues to use.
            #expect(try await builds.settingsOfSession() == ["on", "on", "4MB"])
        }
    }

    @Test func `a row inserted in the middle is one added row, in any lane`() async throws {
        try await withTwoBuilds(from: FilledLedger.divided) { builds in
            try await builds.alter(
                """
                DELETE FROM old.transactions WHERE ordinal = 1;
                UPDATE old.transactions SET ordinal = -ordinal;
                UPDATE old.transactions SET ordinal = -ordinal - 1
                """
            )
            let difference = try await builds.difference()
            let total = try #require(difference.totals.first { $0.name == "transactions" })
            #expect(total.changes.map(\.kind) == ["transaction-added"])
            #expect(total.rowsChanged == builds.streams)
            #expect(total.streamsChanged == builds.streams)
            #expect(difference.samples.count == ProjectionDifference.samplesDefault)
        }
    }

    @Test func `samples contain the rows with the events that caused them`() async throws {
        try await withTwoBuilds(from: FilledLedger.divided) { builds in
            try await builds.alter(
                "UPDATE old.active_periods SET valid_to = valid_to + interval '1 ms' WHERE ordinal = 1"
            )
            let difference = try await builds.difference()
            #expect(difference.production.access.gained == 0)
            for sample in difference.samples {
                let change = try #require(sample.changes.first)
                let rows = try await builds.ledger.periods(of: sample.stream).rows
                let row = try #require(rows.first)
                #expect(change.new?.values.first == .text(row.productId))
                #expect(change.new?.positions == row.positions)
                #expect(change.old?.positions == row.positions)
                #expect(change.kinds == ["period-moved"] && change.columns == ["valid_to"])
                #expect(sample.newSpans?.count == rows.filter { $0.validFrom < $0.validTo }.count)
            }
        }
    }

    @Test func `columns on one side are reported, wider ones are compared`() async throws {
        try await withTwoBuilds(from: FilledLedger.plain) { builds in
            try await builds.alter(
                """
                ALTER TABLE old.active_periods DROP COLUMN end_reason, ADD COLUMN "Was ""it" json;
                ALTER TABLE old.active_periods ALTER expires_date_ms TYPE numeric;
                ALTER TABLE old.plan_changes ALTER catalog_version TYPE bigint;
                ALTER TABLE old.refunds ALTER product_identifier TYPE varchar COLLATE "POSIX"
                """
            )
            let difference = try await builds.difference()
            #expect(!difference.isEqual && difference.streamsChanged == 0)
            #expect(difference.tables[0].columnsAdded == ["end_reason"])
            #expect(difference.tables[0].columnsRemoved == ["Was \"it"])
            let others = difference.tables.dropFirst().filter { !$0.hasSameColumns }
            #expect(others.isEmpty)
        }
    }

    @Test func `a projection that was never built before has no rows to compare`() async throws {
        try await withTwoBuilds(from: FilledLedger.plain) { builds in
            try await builds.alter("DROP TABLE old.refunds")
            let difference = try await builds.difference()
            let table = try #require(difference.tables.first { $0.name == "refunds" })
            #expect(table.oldVersion == nil && table.columns.isEmpty)
            #expect(table.columnsAdded == TestProjections.columns("refunds"))
            #expect(!difference.isEqual && difference.streamsChanged == 0)
            try await builds.alter("DROP TABLE old.movements")
            let first = try await builds.difference(of: ["refunds", "movements"])
            #expect(first.streamsCompared == 0 && first.streamsChanged == 0)
        }
    }
}

/// An alteration of an old table, and the changes that are then found in the new one.
struct Alteration: Sendable, CustomTestStringConvertible {
    let table: String
    let sql: String
    let kinds: [String]

    var testDescription: String { "\(table): \(sql)" }

    private init(_ table: String, _ change: String, _ kinds: String...) {
        self.table = table
        sql = change.replacing("TABLE", with: "old.\(table)")
        self.kinds = kinds
    }

    static let all = [
        Alteration("active_periods", "DELETE FROM TABLE WHERE ordinal = 2", "period-added"),
        Alteration(
            "active_periods",
            """
            INSERT INTO TABLE SELECT lane, environment, original_transaction_id, 1000, 'x', 1, 2,
                'epoch', 'epoch', kind, end_reason, expiration_reason, billing_plan_type,
                commitment_period_number, commitment_period_count, commitment_expires_at,
                commitment_price_milliunits, advanced_commerce_skus, seat_quantity,
                bundle_product_identifier, positions
            FROM TABLE WHERE ordinal = 1
            """,
            "period-removed"
        ),
        Alteration(
            "active_periods",
            "UPDATE TABLE SET valid_to = valid_to + interval '1 ms'",
            "period-moved"
        ),
        Alteration(
            "active_periods",
            "UPDATE TABLE SET end_reason = 'open' WHERE end_reason = 'refunded'",
            "end-reason-changed"
        ),
        Alteration(
            "active_periods",
            "UPDATE TABLE SET product_identifier = 'x' WHERE ordinal = 1",
            "product-changed"
        ),
        Alteration(
            "active_periods",
            "UPDATE TABLE SET kind = 'offer' WHERE kind = 'trial'",
            "kind-changed"
        ),
        Alteration(
            "active_periods",
            """
            UPDATE TABLE SET ordinal = -ordinal WHERE ordinal <= 2 AND original_transaction_id IN
                (SELECT original_transaction_id FROM TABLE WHERE ordinal = 2);
            UPDATE TABLE SET ordinal = 3 + ordinal WHERE ordinal < 0
            """,
            "periods-reordered"
        ),
        Alteration(
            "renewal_states",
            "UPDATE TABLE SET is_auto_renew_on = NOT is_auto_renew_on",
            "auto-renew-changed"
        ),
        Alteration(
            "renewal_states",
            "UPDATE TABLE SET status = 'revoked' WHERE status = 'expired'",
            "status-changed"
        ),
        Alteration(
            "renewal_states",
            "UPDATE TABLE SET valid_from = valid_from - interval '1 ms'",
            "state-moved"
        ),
        Alteration(
            "plan_changes",
            "UPDATE TABLE SET plan_change = 'plan_change', is_same_duration = true",
            "plan-change-class-changed"
        ),
        Alteration("plan_changes", "DELETE FROM TABLE", "plan-change-added"),
        Alteration(
            "refunds",
            """
            UPDATE TABLE SET refund_state = 'refunded', reversed_at = NULL, reversal = NULL
            WHERE refund_state = 'reversed'
            """,
            "refund-state-changed",
            "refund-moved"
        ),
        Alteration(
            "transactions",
            "UPDATE TABLE SET effective_end_time = effective_end_time + '1 day'",
            "transaction-moved"
        ),
        Alteration(
            "transactions",
            "UPDATE TABLE SET duplicate_transaction_ids = '{\"é\",2}'",
            "transaction-changed"
        ),
        Alteration(
            "movements",
            "UPDATE TABLE SET amount_milliunits = amount_milliunits - 10",
            "amount-changed"
        ),
        Alteration(
            "movements",
            "UPDATE TABLE SET movement = 'churn_unknown' WHERE movement ~ '^churn'",
            "movement-kind-changed"
        ),
    ]
}

/// A ledger with its live tables, and an altered copy of them in schema `old`.
private struct TwoBuilds: Sendable {
    let ledger: Ledger
    let settings: ConnectionSettings
    let new: String
    /// How many subscriptions there are.
    let streams: Int

    /// A schema whose name must be quoted.
    static let old = "Old \"build\""

    func alter(_ sql: String) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(sql.replacing("old.", with: "\"Old \"\"build\"\"\"."))
        await session.close()
    }

    func difference(of names: [String] = []) async throws -> ProjectionDifference {
        let chosen = allProjections.filter { names.isEmpty || names.contains($0.name) }
        let pairs = chosen.map {
            TableDifference.Pair($0, old: TwoBuilds.old, oldVersion: 1, new: new)
        }
        let session = try await PostgresSession.connect(settings)
        let difference = try await session.transaction(.readOnlySnapshot) {
            (session) throws(PostgresError) in
            try TableDifference.read(pairs, in: session)
        }
        await session.close()
        return difference
    }

    func settingsOfSession() async throws -> [String] {
        let pairs = allProjections.map {
            TableDifference.Pair($0, old: TwoBuilds.old, oldVersion: 1, new: new)
        }
        let session = try await PostgresSession.connect(settings)
        // The tests' server does not compile statements, which would hide a setting that is left.
        try await session.execute("SET jit = on")
        let values = try await session.transaction(.readOnlySnapshot) {
            (session) throws(PostgresError) in
            _ = try TableDifference.read(pairs, in: session)
            return try session.query(
                """
                SELECT current_setting('enable_hashjoin'), current_setting('jit'),
                    current_setting('work_mem')
                """
            )
        }
        await session.close()
        let row = try values.single()
        return try (0..<3).map { try row.text($0) }
    }
}

private enum TestProjections {
    static func columns(_ name: String) -> [String]? {
        allProjections.first { $0.name == name }?.columns
    }
}

private func withTwoBuilds(
    from template: TestTemplate,
    _ body: (TwoBuilds) async throws -> Void
) async throws {
    try await TestServer.shared.withDatabase(from: template) { settings in
        let ledger = try await FilledLedger.open(settings)
        _ = try await rebuild(ledger, settings)
        let new = try #require(try await buildSchemas(settings).first)
        let builds = TwoBuilds(
            ledger: ledger,
            settings: settings,
            new: new,
            streams: try await ledger.allStreams().count
        )
        let copies = allProjections.map(\.name).map {
            """
            CREATE TABLE old.\($0) (LIKE \(new).\($0));
            INSERT INTO old.\($0) SELECT * FROM \(new).\($0);
            """
        }
        try await builds.alter("CREATE SCHEMA \"Old \"\"build\"\"\"; " + copies.joined())
        try await body(builds)
        await ledger.log.close()
    }
}
