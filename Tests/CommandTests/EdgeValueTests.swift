import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// No value of the database ends the process: whatever a row contains, every question, report and
/// export gives an answer or an error.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct EdgeValueTests {
    /// The tables of which each column is changed, and the questions that read them.
    enum Place: String, CaseIterable, Sendable {
        case ledger, operation, projection
    }

    @Test(arguments: Place.allCases)
    func `every column with an edge value, none or another type gives an answer or an error`(
        place: Place
    ) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let folder = try TestFolder()
            let edges = try await Edges(settings, place)
            let questions = try await Question.all(settings, of: place)
            #expect(edges.all.count > 30 && questions.count > 5)
            for (number, edge) in edges.all.enumerated() {
                if let only = Self.only, !edge.description.contains(only) { continue }
                let isWhole = Acceptance.isRunning || Self.only != nil
                guard isWhole || number.isMultiple(of: Self.stride) else { continue }
                guard try await edges.plant(edge) else { continue }
                for (index, question) in questions.enumerated()
                // One question of some edges, in turn; acceptance asks all of every edge.
                where isWhole || index == number / Self.stride % questions.count {
                    let out = folder.path(of: "\(number)")
                    let ending = try await command.run(
                        question.map { $0.replacing("{out}", with: out) }
                    )
                    #expect(
                        !ending.wasKilled
                            && (ending.code == 0 || !(ending.output + ending.errors).isEmpty),
                        "\(edge): subledger \(question.joined(separator: " ")): \(ending.code)"
                    )
                }
                try await edges.restore(edge)
            }
            await edges.close()
            try await command.expectSoundLog()
        }
    }

    // Before every commit one edge in so many is planted.
    private static let stride = 12

    /// Columns of which every edge is asked everything, such as `ledger.event.`.
    private static let only = ProcessInfo.processInfo.environment["SUBLEDGER_EDGES"]
}

/// What is asked.
private enum Question {
    static func all(
        _ settings: ConnectionSettings,
        of place: EdgeValueTests.Place
    ) async throws -> [[String]] {
        let id = try await settings.text(
            """
            SELECT original_transaction_id FROM projection.active_periods
            ORDER BY lane, original_transaction_id LIMIT 1
            """
        )
        let reports = Report.all.map { ["report", "ask", $0.name] }
        let tables = reports + texts(onTables, id)
        switch place {
        case .ledger: return texts(onLog, id) + tables
        case .operation: return texts(onLog, id) + reports
        case .projection: return tables
        }
    }

    private static func texts(_ lines: String, _ id: String) -> [[String]] {
        lines.split(separator: "\n").map { line in
            line.replacing("{id}", with: id).split(separator: " ").map(String.init)
        }
    }

    private static let onLog = """
        access {id} --at 2026-03-03
        explain {id} --at 2026-03-03
        explain {id} --at 2026-03-03 --known-at 3
        periods {id}
        state {id}
        changes {id}
        refunds {id}
        eligibility {id}
        entitlements {id} --at 2026-03-03
        history {id}
        history {id} --json
        diff {id} --known 1..3
        replay {id}
        blame {id} --at 2026-03-03
        event 1
        event 2 --proof
        due --within 30d --at 2026-03-03
        streams
        customers list
        customers claims
        customers show {id}
        rejections
        catalog list
        catalog show
        rates list
        verify
        verify --signatures
        report ingest-quality
        report drift
        report wrong-answers
        report anomalies
        report gaps
        feed
        tokens list
        checkpoint --no-store
        doctor
        migrate status
        """

    private static let onTables = """
        tables list
        tables check
        tables diff
        follow --once
        export transactions --out {out}
        report mrr --known-at 5
        """
}

/// The columns of some tables, and how their values are changed and put back.
private struct Edges: Sendable {
    struct Edge: Sendable, CustomStringConvertible {
        let table: String
        let column: String
        let type: String
        /// The new value as SQL; nil for another type of the column.
        let value: String?

        var description: String { "\(table).\(column) \(value ?? "of another type")" }
    }

    let all: [Edge]
    private let session: PostgresSession

    /// The edges of each type.
    private static let values: [String: [String]] = [
        "bigint": ["9223372036854775807", "-9223372036854775808", "0", "-1"],
        "integer": ["2147483647", "-2147483648", "0", "-1"],
        "text": ["''", "'x'", "repeat('é', 70000)"],
        "bytea": [#"'\x'"#, #"'\x00'"#, #"'\xffffffffffffffffffffffffffffffff'"#],
        "timestamp with time zone": ["'infinity'", "'-infinity'"],
        "date": ["'infinity'", "'-infinity'"],
        "numeric": ["'NaN'", "'1e130000'", "-1"],
        "boolean": ["true", "false"],
        "bigint[]": ["'{}'", "'{NULL}'", "'{9223372036854775807,-9223372036854775808}'"],
        "text[]": ["'{}'", "'{NULL}'", "'{{a},{b}}'"],
        "jsonb": ["'null'", "'[]'", "'{\"a\": 1e300}'"],
    ]

    init(_ settings: ConnectionSettings, _ place: EdgeValueTests.Place) async throws {
        session = try await PostgresSession.connect(settings)
        try await session.execute("\(Tampering.begin)")
        try await session.execute(Self.unguard)
        let found = try await session.query(
            """
            SELECT format('%I.%I', n.nspname, c.relname), a.attname::text,
                format_type(a.atttypid, NULL)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relkind = 'r' AND starts_with(n.nspname, $1)
            ORDER BY 1, a.attnum
            """,
            [.text(place.rawValue)]
        )
        var edges: [Edge] = []
        for row in found {
            let (table, column, type) = (try row.text(0), try row.text(1), try row.text(2))
            for value in ["NULL"] + Self.values[type, default: []] + [nil] {
                edges.append(Edge(table: table, column: column, type: type, value: value))
            }
        }
        all = edges
        try await session.execute("CREATE SCHEMA kept")
        for table in Set(edges.map(\.table)) {
            try await session.execute("CREATE TABLE \(Self.kept(table)) AS TABLE \(table)")
        }
    }

    /// Changes a row; false if the table has none, or something else keeps the column as it is.
    func plant(_ edge: Edge) async throws -> Bool {
        do throws(PostgresError) {
            guard let value = edge.value else {
                let other = edge.type == "text" ? "bytea USING NULL" : "text USING NULL"
                try await session.execute(
                    "ALTER TABLE \(edge.table) ALTER COLUMN \(edge.column) TYPE \(other)"
                )
                return true
            }
            // The rows of the first subscription come first in every table.
            return try await !session.query(
                """
                UPDATE \(edge.table) SET \(edge.column) = \(value)
                WHERE ctid = (SELECT min(ctid) FROM \(edge.table)) RETURNING 1
                """
            ).isEmpty
        } catch {
            guard ["0A000", "22003", "22P02", "2BP01", "42704", "42804"].contains(error.sqlState)
            else {
                throw error
            }
            return false
        }
    }

    func restore(_ edge: Edge) async throws {
        if edge.value == nil {
            try await session.execute(
                "TRUNCATE \(edge.table); ALTER TABLE \(edge.table) ALTER COLUMN \(edge.column) "
                    + "TYPE \(edge.type)\(edge.type == "text" ? " COLLATE \"C\"" : "") USING NULL"
            )
        }
        try await session.execute(
            "TRUNCATE \(edge.table); INSERT INTO \(edge.table) TABLE \(Self.kept(edge.table))"
        )
    }

    func close() async { await session.close() }

    private static func kept(_ table: String) -> String {
        "kept.\(table.replacing(".", with: "_").replacing("\"", with: ""))"
    }

    // Every constraint stands in the way of some edge.
    private static let unguard = """
        DO $$
        DECLARE
            found record;
        BEGIN
            FOR found IN
                SELECT c.conrelid::regclass AS name, c.conname FROM pg_constraint c
                JOIN pg_class r ON r.oid = c.conrelid JOIN pg_namespace n ON n.oid = r.relnamespace
                WHERE n.nspname IN ('ledger', 'operation') OR starts_with(n.nspname, 'projection')
            LOOP
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.name, found.conname);
            END LOOP;
            FOR found IN
                SELECT r.oid::regclass AS name, a.attname FROM pg_attribute a
                JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
                WHERE r.relkind = 'r' AND a.attnotnull AND a.attnum > 0 AND (
                    n.nspname IN ('ledger', 'operation') OR starts_with(n.nspname, 'projection'))
            LOOP
                EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', found.name,
                    found.attname);
            END LOOP;
            FOR found IN
                SELECT r.oid::regclass AS name FROM pg_class r
                JOIN pg_namespace n ON n.oid = r.relnamespace
                WHERE r.relkind = 'r' AND n.nspname = 'operation'
            LOOP
                EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', found.name);
            END LOOP;
        END
        $$
        """
}
