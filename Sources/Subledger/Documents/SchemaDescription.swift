internal import Events
internal import Postgres
internal import Projections

/// What the tables of schema `analytics` and their columns mean.
package struct SchemaDescription: Codable, Hashable, Sendable {
    /// Those that were built, each after the ones that it reads.
    package let tables: [Table]

    /// A table.
    package struct Table: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// The meaning of a row.
        package let comment: String
        /// The columns that identify a row.
        package let key: [String]
        /// The columns, in order.
        package let columns: [Column]
    }

    /// A column.
    package struct Column: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// Its type in PostgreSQL.
        package let type: String
        /// Its meaning.
        package let comment: String
    }
}

extension Ledger {
    /// Describes the tables of schema `analytics`.
    ///
    /// - Returns: The description.
    /// - Throws: `QuestionError` if no table was built; `PostgresError`, `EventLogError`.
    package func schemaDescription() async throws -> SchemaDescription {
        let session = try await PostgresSession.connect(log.settings)
        var tables: [String: SchemaDescription.Table] = [:]
        do {
            for row in try await session.query(
                ReportSQL.text(embeddedFile("describe-tables.sql"))
            ) {
                let name = try row.text(0)
                let relation = AnalyticsRelation.all.first { $0.name == name }
                guard let key = relation?.grain?.key else { continue }
                let names = try row.textArray(2)?.compactMap { $0 } ?? []
                let types = try row.textArray(3)?.compactMap { $0 } ?? []
                tables[name] = SchemaDescription.Table(
                    name: name,
                    comment: try row.text(1),
                    key: key,
                    columns: zip(names, types).map { name, type in
                        SchemaDescription.Column(
                            name: name,
                            type: type,
                            comment: ColumnVocabulary.comment(on: name) ?? ""
                        )
                    }
                )
            }
            await session.close()
        } catch {
            await session.close()
            throw await log.outage(behind: error, doing: "tables describe") ?? error
        }
        guard !tables.isEmpty else {
            throw QuestionError(
                .tablesNotBuilt,
                "schema analytics has no tables yet; `subledger rebuild` builds them"
            )
        }
        return SchemaDescription(tables: AnalyticsRelation.all.compactMap { tables[$0.name] })
    }
}

extension SchemaDescription {
    /// The description as text.
    package var text: [Block] {
        tables.flatMap { table -> [Block] in
            [
                .line("analytics.\(table.name): \(table.comment)"),
                .table(
                    ["column", "type", "meaning"],
                    table.columns.map { [$0.name, $0.type, $0.comment] }
                ),
            ]
        }
    }

    /// The description as a file of sources for dbt, in YAML.
    package var dbt: String {
        var lines = [
            "version: 2", "", "sources:", "  - name: subledger",
            "    description: \"Subscriptions of the App Store, from a ledger of what Apple signed.\"",
            "    schema: analytics", "    tables:",
        ]
        for table in tables {
            lines += [
                "      - name: \(table.name)",
                "        description: \(table.comment.quotedForYAML)",
                "        columns:",
            ]
            for column in table.columns {
                lines += [
                    "          - name: \(column.name)",
                    "            data_type: \(column.type.quotedForYAML)",
                    "            description: \(column.comment.quotedForYAML)",
                ]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    // Comments and types have no control characters.
    fileprivate var quotedForYAML: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
