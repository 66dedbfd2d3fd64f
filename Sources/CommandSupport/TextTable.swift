/// Columns of text, each as wide on a terminal as its widest cell, as far as all fit.
package struct TextTable {
    private var rows: [[String]]

    /// A table with only that header line.
    package init(_ header: [String]) {
        rows = [header]
    }

    /// Adds a line, with a cell for each column.
    package mutating func add(_ row: [String]) {
        rows.append(row.map { $0.harmless.replacing("\n", with: " ") })
    }

    /// The table, indented by one space, without a final line break; on a terminal it is fitted.
    package var text: String { text(width: Terminal.tableWidth) }

    /// The table in this many columns of a terminal: if it is wider, long cells continue on the
    /// lines below.
    ///
    /// - Parameter width: Nil for its natural width.
    /// - Returns: The lines; wider if not even `columnWidthMin` for each column fits.
    package func text(width: Int?) -> String {
        let widths = widths(fitting: width)
        return rows.flatMap { row in
            let cells = zip(row, widths).map { cell, width in cell.wrapped(toWidth: width) }
            return (0..<(cells.map(\.count).max() ?? 1)).map { number in
                let parts = zip(cells, widths).map { lines, width in
                    (number < lines.count ? lines[number] : "").padded(toWidth: width)
                }
                let line = " " + parts.joined(separator: TextTable.gap)
                return String(line.reversed().drop { $0 == " " }.reversed())
            }
        }.joined(separator: "\n")
    }

    /// The least width of a column, unless its name is wider.
    private static let columnWidthMin = 10

    private static let gap = "  "

    // The widest columns shrink first, until the rest fits.
    private func widths(fitting width: Int?) -> [Int] {
        let columns = rows.first?.indices ?? 0..<0
        var widths = columns.map { column in
            rows.map { $0[column].displayWidth }.max() ?? 0
        }
        guard let width else { return widths }
        let least = zip(rows[0], widths).map { name, width in
            min(width, max(name.displayWidth, TextTable.columnWidthMin))
        }
        let room = width - 1 - TextTable.gap.count * max(0, columns.count - 1)
        while widths.reduce(0, +) > room {
            let yielding = columns.filter { widths[$0] > least[$0] }
            guard let widest = yielding.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
        }
        return widths
    }
}

extension String {
    /// The text in lines of at most this many columns: broken after a space or a mark if there is
    /// one in the second half of a line, otherwise where the line is full.
    fileprivate func wrapped(toWidth width: Int) -> [String] {
        guard displayWidth > width, width > 0 else { return [self] }
        var lines: [String] = []
        var rest = self[...]
        while !rest.isEmpty {
            var (end, used) = (rest.startIndex, 0)
            while end < rest.endIndex {
                let next = String(rest[end]).displayWidth
                guard used + next <= width || end == rest.startIndex else { break }
                used += next
                end = rest.index(after: end)
            }
            if end < rest.endIndex, rest[end] != " " {
                let marks = rest[..<end].lastIndex { " .,-/_·".contains($0) }
                if let mark = marks, rest.distance(from: rest.startIndex, to: mark) >= width / 2 {
                    end = rest.index(after: mark)
                }
            }
            let line = rest[..<end]
            lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
            rest = rest[end...].drop { $0 == " " }
        }
        return lines
    }
}
