/// A part of a text: what it consists of, not how it looks.
package enum Block: Hashable, Sendable {
    /// A line, or a paragraph.
    case line(String)
    /// An empty line.
    case gap
    /// Rows below the names of their columns, each with a cell for every column.
    case table([String], [[String]])
}
