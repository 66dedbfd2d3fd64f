internal import Events

/// The meaning of the columns of tables and views: one comment for each name, wherever it occurs.
///
/// `columns.txt` contains them. The value that a projection declares defines a column's type; a lint
/// in the tests checks that a name has one type and one comment everywhere.
package enum ColumnVocabulary {
    /// The comment of a column with that name; nil for a name that is not ours.
    package static func comment(on column: String) -> String? { comments[column] }

    /// All names, in alphabetical order.
    package static var names: [String] { comments.keys.sorted() }

    /// The statements that comment columns of a table or view, which is named in SQL syntax.
    ///
    /// - Parameters:
    ///   - columns: The columns; those with unknown names are skipped.
    ///   - relation: The table or view.
    /// - Returns: SQL, one statement per line; empty if no name is known.
    package static func commentSQL(on columns: [String], of relation: String) -> String {
        columns.compactMap { column in
            comments[column].map { comment in
                let literal = comment.replacing("'", with: "''")
                return "COMMENT ON COLUMN \(relation).\(column) IS '\(literal)';"
            }
        }.joined(separator: "\n")
    }

    private static let comments: [String: String] = {
        let text = String(decoding: embeddedFile("columns.txt"), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else {
                    preconditionFailure("columns.txt holds a line without a comment: \(line)")
                }
                return (String(parts[0]), String(parts[1].dropFirst()))
            },
            uniquingKeysWith: { _, other in
                preconditionFailure("columns.txt holds a name twice: \(other)")
            }
        )
    }()
}

extension Projection {
    /// DDL of the comments on the table's columns; `{{schema}}` as in `tableSQL`.
    package var commentSQL: String {
        ColumnVocabulary.commentSQL(
            on: ProjectionRow.streamColumns + columns + ["positions"],
            of: "{{schema}}.\(name)"
        )
    }
}
