internal import Events

/// Detects from the beginning of a file how to split it.
struct HeadReader: Sendable {
    /// How to split a file.
    enum Kind {
        case array
        case lines
        case table(TableReader.Shape)
        /// A table without the named column.
        case otherTable(names: [String])
        case whole
    }

    // Lines before this offset were already checked.
    private var looked = 0
    private var isFound = false
    // Where to check again a table whose first rows have not ended yet.
    private var nextLook = 0

    /// The kind; nil if more bytes are needed, never nil if `isLast` is set.
    ///
    /// Text is split into lines as soon as one line holds a payload, unless it begins like a table.
    mutating func kind(of head: ArraySlice<UInt8>, column: String?, isLast: Bool) -> Kind? {
        let text = PayloadSplitter.withoutByteOrderMark(head)
        guard let start = text.firstIndex(where: { !Envelope.isWhitespace($0) }) else {
            return isLast ? .whole : nil
        }
        switch text[start] {
        case UInt8(ascii: "{"): return .lines
        case UInt8(ascii: "["):
            let isKnown = text[(start + 1)...].contains { !Envelope.isWhitespace($0) }
            guard isKnown || isLast else { return nil }
            if LineReader.startsArray(text[start...]) { return .array }
        case 0x30 where text.count == 1 && !isLast: return nil
        case 0x30 where ReceiptEncoding.looksLikeReceipt(text[start...]): return .whole
        default: break
        }
        // The names of all of them are known after their first sixteen bytes.
        if text.count < 16, !isLast { return nil }
        if ForeignFormat.rejection(ofFile: text) != nil { return .whole }
        return kind(ofText: text[start...], column: column, isLast: isLast)
    }

    // Goes line by line, so the result does not depend on how many bytes are available.
    private mutating func kind(
        ofText text: ArraySlice<UInt8>,
        column: String?,
        isLast: Bool
    ) -> Kind? {
        var position = max(text.startIndex, looked)
        while position < text.endIndex {
            let newline = text[position...].firstIndex(ofLong: UInt8(ascii: "\n"))
            guard newline != nil || isLast else { break }
            let end = newline.map { $0 + 1 } ?? text.endIndex
            let line = text[position..<end]
            let isFirst = position == text.startIndex
            (position, looked) = (end, end)
            if isFirst, HeadReader.isString(line) { return .lines }
            isFound = isFound || HeadReader.isStatement(line)
            let mayBeTable = isFound || isFirst && column != nil
            guard mayBeTable, end >= nextLook || end == text.endIndex && isLast else { continue }
            let isAll = isLast && end == text.endIndex
            switch TableReader.look(at: text[..<end], column: column, isLast: isAll) {
            case .table(let shape): return .table(shape)
            case .unfinished: nextLook = end + (end - text.startIndex) / HeadReader.lookShare
            case .other: if isFound { return HeadReader.kind(ofFound: text[..<end], column) }
            }
        }
        guard isLast else { return nil }
        if isFound { return .lines }
        if case .table(let shape) = TableReader.look(at: text, column: column, isLast: true) {
            return .table(shape)
        }
        // A payload without a line break that exceeds the look-ahead is base64 or JSON.
        let hasLines =
            text.contains(UInt8(ascii: "\n"))
            || text.count >= PayloadSplitter.lookAheadByteCountMax - 3
        let isText = hasLines && !text.contains(0)
        return isText ? .lines : .whole
    }

    // Text that holds a payload, but not in the named column.
    private static func kind(ofFound text: ArraySlice<UInt8>, _ column: String?) -> Kind {
        guard column != nil,
            case .table(let shape) = TableReader.look(at: text, column: nil, isLast: true),
            shape.hasHeader
        else { return .lines }
        return .otherTable(names: shape.names)
    }

    // A row over many lines is checked again after it has grown by a quarter.
    private static let lookShare = 4

    // A string as a line of its own; the header of a table may begin with a quoted name.
    private static func isString(_ line: ArraySlice<UInt8>) -> Bool {
        let line = Envelope.trimmed(line)
        guard line.first == UInt8(ascii: "\"") else { return false }
        var scanner = ValueScanner(isArray: false)
        let (count, mark) = scanner.takeRun(of: line)
        guard mark == .end, count == line.count else { return false }
        if case .inside = PayloadFinder.search(json: Array(line)) { return true }
        return false
    }

    private static func isStatement(_ line: ArraySlice<UInt8>) -> Bool {
        let line = Envelope.trimmed(PayloadSplitter.withoutByteOrderMark(line))
        guard let first = line.first else { return false }
        if first == UInt8(ascii: "{") || PayloadSplitter.isCompactJWS(line) { return true }
        if ReceiptEncoding.looksLikeReceipt(line), EncodedForm.isBase64(line) { return true }
        if CopyText.columns(ofStatement: line) != nil { return true }
        if !CopyText.payloads(inEscaped: line).isEmpty { return true }
        var finder = PayloadFinder(isLine: true)
        finder.search(line)
        return !finder.finished.isEmpty
    }
}
