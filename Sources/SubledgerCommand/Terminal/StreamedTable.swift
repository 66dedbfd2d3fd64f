import CommandSupport

/// A table whose lines are printed one by one, so its columns cannot be as wide as their content.
enum StreamedTable {
    /// A row; each column except the last is at least as wide as an id, a word or an instant needs.
    static func row(_ cells: [String], widths: [Int] = [16, 12, 10]) -> String {
        cells.enumerated().map { index, cell in
            guard index + 1 < cells.count, index < widths.count else { return cell }
            return cell.padded(toWidth: widths[index])
        }.joined(separator: "  ")
    }
}
