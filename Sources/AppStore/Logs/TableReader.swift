internal import Events

/// Extracts payloads from a table: CSV, or the same with tabs, semicolons or bars.
struct TableReader: PieceReader {
    private var splitter: RecordSplitter
    private let column: Int?
    private var isAtHeader: Bool

    private(set) var skippedCount = 0

    /// What the beginning of a table shows.
    struct Shape: Sendable {
        let delimiter: UInt8
        let hasHeader: Bool
        /// The only column that is read; nil for all.
        let column: Int?
        /// The names of the columns; none without a header.
        let names: [String]
    }

    /// A reader at the beginning of a table.
    init(_ shape: Shape) {
        splitter = RecordSplitter(delimiter: shape.delimiter)
        column = shape.column
        isAtHeader = shape.hasHeader
    }

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [PayloadSplitter.Piece] {
        pieces(of: splitter.append(bytes))
    }

    mutating func finish() -> [PayloadSplitter.Piece] { pieces(of: splitter.finish()) }

    private mutating func pieces(of records: [RecordSplitter.Record]) -> [PayloadSplitter.Piece] {
        var pieces: [PayloadSplitter.Piece] = []
        for record in records {
            if isAtHeader {
                isAtHeader = false
                continue
            }
            switch record.content {
            case .failure(let rejection): pieces.append(.failure(rejection))
            case .success(let bytes):
                let cells = QuotedCell.cells(of: bytes[...], delimiter: splitter.delimiter)
                let found = TableReader.payloads(in: cells.map(\.content), column: column)
                pieces += found
                guard found.isEmpty else { continue }
                if let cut = CutPayload.find(in: bytes[...]) {
                    pieces.append(.success(cut))
                } else {
                    skippedCount += 1
                }
            }
        }
        return pieces
    }

    /// The payloads of a row, each once; only those of one column if it is named.
    ///
    /// A cell of that column is taken as a payload whatever it holds, unless it is null.
    static func payloads(in cells: [[UInt8]?], column: Int?) -> [PayloadSplitter.Piece] {
        var finder = PayloadFinder()
        guard let column else {
            for cell in cells { finder.search(cell?[...] ?? []) }
            return finder.finished
        }
        guard cells.indices.contains(column), let cell = cells[column], !isNull(cell) else {
            return []
        }
        finder.search(cell[...])
        let found = finder.finished
        return found.isEmpty ? [.success(cell)] : found
    }

    private static func isNull(_ cell: [UInt8]) -> Bool {
        let text = Envelope.trimmed(cell[...])
        return text.isEmpty || ["NULL", "null", "\\N"].contains { text.elementsEqual($0.utf8) }
    }
}

extension TableReader {
    /// What the beginning of a file shows about a table.
    enum Look {
        case table(Shape)
        /// Perhaps a table: a record has not ended.
        case unfinished
        case other
    }

    /// Longest name of a column, in bytes.
    private static let nameByteCountMax = 128

    /// Whether a file begins like a table with payloads in it, or with the named column.
    static func look(at head: ArraySlice<UInt8>, column: String?, isLast: Bool) -> Look {
        var look = Look.other
        for delimiter in [",", "\t", ";", "|"] as [Unicode.Scalar] {
            switch self.look(at: head, UInt8(ascii: delimiter), column: column, isLast: isLast) {
            case .table(let shape): return .table(shape)
            case .unfinished: look = .unfinished
            case .other: break
            }
        }
        return look
    }

    private static func look(
        at head: ArraySlice<UInt8>,
        _ delimiter: UInt8,
        column: String?,
        isLast: Bool
    ) -> Look {
        var splitter = RecordSplitter(delimiter: delimiter)
        var records = splitter.append(head)
        let isOpen = splitter.isInQuotes && !isLast
        if isLast { records += splitter.finish() }
        let rows = records.compactMap { record in
            if case .success(let bytes) = record.content {
                QuotedCell.cells(of: bytes[...], delimiter: delimiter)
            } else {
                nil
            }
        }
        guard let first = rows.first else { return isOpen ? .unfinished : .other }
        let hasHeader = first.allSatisfy(isName)
        if let column {
            guard hasHeader, first.count > 1, let index = index(of: column, in: first) else {
                return .other
            }
            return .table(
                Shape(delimiter: delimiter, hasHeader: true, column: index, names: names(in: first))
            )
        }
        let isTable = rows.dropFirst(hasHeader ? 1 : 0).contains { row in
            row.count == first.count
                && row.contains { cell in
                    holdsPayload(cell, isNamed: hasHeader)
                        && (cell.isQuoted || mayBeBare(cells: row.count, delimiter, hasHeader))
                }
        }
        if isTable {
            return .table(
                Shape(
                    delimiter: delimiter,
                    hasHeader: hasHeader,
                    column: nil,
                    names: hasHeader ? names(in: first) : []
                )
            )
        }
        return isOpen && hasHeader ? .unfinished : .other
    }

    // One word per line means lines, and rows with tabs but no header are PostgreSQL's COPY.
    private static func mayBeBare(cells: Int, _ delimiter: UInt8, _ hasHeader: Bool) -> Bool {
        cells > 1 && (hasHeader || delimiter != UInt8(ascii: "\t"))
    }

    private static func index(of column: String, in header: [QuotedCell.Cell]) -> Int? {
        let names = names(in: header)
        return names.firstIndex(of: column)
            ?? names.firstIndex { $0.lowercased() == column.lowercased() }
    }

    private static func names(in header: [QuotedCell.Cell]) -> [String] {
        header.map { String(decoding: Envelope.trimmed($0.content[...]), as: UTF8.self) }
    }

    private static func isName(_ cell: QuotedCell.Cell) -> Bool {
        guard let first = cell.content.first, cell.content.count <= nameByteCountMax else {
            return false
        }
        let isWord = EncodedForm.isLetterOrDigit(first) && first >= UInt8(ascii: "A")
        return (isWord || first >= 0x80 || [UInt8(ascii: "_"), UInt8(ascii: "@")].contains(first))
            && cell.content.allSatisfy { byte in
                EncodedForm.isLetterOrDigit(byte) || byte >= 0x80
                    || " _-.:@/()".utf8.contains(byte)
            }
    }

    // An unquoted cell counts only if no delimiter can have cut it: a log line may look like cells.
    private static func holdsPayload(_ cell: QuotedCell.Cell, isNamed: Bool) -> Bool {
        var finder = PayloadFinder()
        if cell.isQuoted {
            finder.search(cell.content[...])
            return !finder.finished.isEmpty
        }
        let text = Envelope.trimmed(cell.content[...])
        if let bytes = CopyText.hexBytes(text) {
            finder.search(bytes[...])
            return !finder.finished.isEmpty
        }
        if text.first == UInt8(ascii: "{") {
            finder.search(text)
            return isNamed && !finder.finished.isEmpty && finder.json(text) != nil
        }
        return finder.search(encoded: text, textDepth: 0) && !finder.finished.isEmpty
    }
}
