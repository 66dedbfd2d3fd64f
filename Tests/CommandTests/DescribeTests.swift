import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// `tables describe`, also as a file for dbt.
@Suite(.enabled { await TestServer.isAvailable })
struct DescribeTests {
    @Test func `the file for dbt names every column of the schema, with its type and meaning`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let session = try await PostgresSession.connect(settings)
            let expected = try await session.query(
                """
                SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                    || ' ' || col_description(c.oid, a.attnum)
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v'
                """
            ).map { try $0.text(0) }
            await session.close()
            let text = try await command.expect(0, "tables", "describe", "--dbt")
            #expect(try Self.columns(of: text) == expected.sorted())
            // dbt fills in what is in double braces.
            #expect(expected.count > 150 && !text.contains("{{") && !text.contains("{%"))
            let document = try await command.json(SchemaDescription.self, "tables", "describe")
            let columns = document.tables.flatMap { table in
                table.columns.map { "\(table.name).\($0.name) \($0.type) \($0.comment)" }
            }
            #expect(columns.sorted() == expected.sorted())
            let plain = try await command.expect(0, "tables", "describe")
            #expect(plain.contains("analytics.customer_value: What each customer paid"), "\(plain)")
            try await command.expect(64, "tables", "describe", "--dbt", "--json")
        }
    }

    // The columns of the file, whose lines have no other forms than these; a quoted text in YAML
    // is one in JSON.
    private static func columns(of text: String) throws -> [String] {
        let head = """
            version: 2

            sources:
              - name: subledger
                description: "Subscriptions of the App Store, from a ledger of what Apple signed."
                schema: analytics
                tables:

            """
        #expect(text.hasPrefix(head) && text.hasSuffix("\"\n"))
        var (columns, table, name, type) = ([String](), "", "", "")
        for line in text.dropFirst(head.count).split(separator: "\n") {
            if let found = line.wholeMatch(of: #/      - name: ([a-z_]+)/#) {
                table = String(found.1)
            } else if let found = line.wholeMatch(of: #/          - name: ([a-z_0-9]+)/#) {
                name = String(found.1)
            } else if let found = line.wholeMatch(of: #/            data_type: (".*")/#) {
                type = try quoted(found.1)
            } else if let found = line.wholeMatch(of: #/            description: (".*")/#) {
                columns.append("\(table).\(name) \(type) \(try quoted(found.1))")
            } else if let found = line.wholeMatch(of: #/        description: (".*")/#) {
                #expect(try !quoted(found.1).isEmpty, "\(table)")
            } else {
                #expect(line == "        columns:")
            }
        }
        return columns.sorted()
    }

    private static func quoted(_ text: Substring) throws -> String {
        try JSONDecoder().decode(String.self, from: Data(text.utf8))
    }
}
