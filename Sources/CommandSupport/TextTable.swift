/// Columns of text, each as wide on a terminal as its widest cell.
package struct TextTable {
    private var rows: [[String]]

    /// A table with that line on top, and no other yet.
    package init(_ header: [String]) {
        rows = [header]
    }

    /// Adds a line, with a cell for each column.
    package mutating func add(_ row: [String]) {
        rows.append(row.map { $0.harmless.replacing("\n", with: " ") })
    }

    /// The table, indented by one space, without a line break at its end.
    package var text: String {
        let widths = (rows.first ?? []).indices.map { column in
            rows.map { $0[column].displayWidth }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                cell.padded(toWidth: width)
            }
            let line = " " + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
