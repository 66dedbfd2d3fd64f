internal import Events

/// One line of a picture: a name and a cell for each column.
struct TimelineLane {
    /// The name at its left.
    let name: String
    /// The cells; a space if empty.
    private(set) var cells: [Character]
    /// How many marks or labels did not fit.
    private(set) var omitted = 0

    /// An empty lane.
    init(_ name: String, columns: Int) {
        self.name = name
        cells = [Character](repeating: " ", count: columns)
    }

    /// Sets a cell, whatever it contains.
    mutating func set(_ column: Int, _ cell: Character) {
        if cells.indices.contains(column) { cells[column] = cell }
    }

    /// Writes a text with a free cell before it; counts it as omitted if it does not fit.
    mutating func write(_ text: String, at column: Int) {
        let range = column..<(column + text.count)
        guard !text.isEmpty else { return }
        guard range.lowerBound >= 0, range.upperBound <= cells.count,
            cells[range].allSatisfy({ $0 == " " }),
            range.lowerBound == 0 || cells[range.lowerBound - 1] == " "
        else {
            omitted += 1
            return
        }
        for (cell, character) in zip(range, text) { cells[cell] = character }
    }

    /// Draws a span from edge to edge with its label inside.
    ///
    /// If it is too narrow, the label is left out and counts as omitted. At least one cell wide;
    /// never over another span.
    mutating func span(
        from: Int,
        to: Int,
        label: String,
        edges: (left: Character, fill: Character, right: Character)
    ) {
        let range = from..<max(to, from + 1)
        guard range.upperBound <= cells.count, cells[range].allSatisfy({ $0 == " " }) else {
            omitted += 1
            return
        }
        for column in range { cells[column] = edges.fill }
        cells[range.upperBound - 1] = edges.right
        cells[range.lowerBound] = edges.left
        let inside = " " + label + " "
        guard range.count >= inside.count + 2 else {
            omitted += 1
            return
        }
        for (column, character) in zip((range.lowerBound + 1)..., inside) {
            cells[column] = character
        }
    }

    /// The cells as text, without spaces at the end.
    var text: String {
        String(String(cells).reversed().drop { $0 == " " }.reversed())
    }
}
