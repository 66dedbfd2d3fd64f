/// Cells of tables as RFC 4180 quotes them: a quote inside quotes is written twice.
package enum QuotedCell {
    /// The content of the quoted cell at the beginning, and the index after its closing quote; nil
    /// if it is not closed.
    static func read(_ text: ArraySlice<UInt8>) -> (content: [UInt8], end: Int)? {
        let quote = UInt8(ascii: "\"")
        var content: [UInt8] = []
        var position = text.startIndex + 1
        while let next = text[position...].firstIndex(of: quote) {
            content += text[position..<next]
            guard next + 1 < text.endIndex, text[next + 1] == quote else {
                return (content, next + 1)
            }
            content.append(quote)
            position = next + 2
        }
        return nil
    }

    /// A cell of a record.
    package struct Cell {
        /// Its content.
        package let content: [UInt8]
        /// Whether it was in quotes.
        package let isQuoted: Bool
    }

    /// The cells of a record whose quotes are closed.
    package static func cells(of record: ArraySlice<UInt8>, delimiter: UInt8) -> [Cell] {
        var cells: [Cell] = []
        var position = record.startIndex
        while true {
            if position < record.endIndex, record[position] == UInt8(ascii: "\""),
                let (content, end) = read(record[position...])
            {
                cells.append(Cell(content: content, isQuoted: true))
                position = end
            } else {
                let end = record[position...].firstIndex(of: delimiter) ?? record.endIndex
                cells.append(Cell(content: Array(record[position..<end]), isQuoted: false))
                position = end
            }
            guard position < record.endIndex, record[position] == delimiter else { return cells }
            position += 1
        }
    }
}
