internal import Events

/// Recognises by the beginning of a file how it is to be taken apart.
struct HeadReader: Sendable {
    /// How a file is taken apart.
    enum Kind {
        case array
        case lines
        case table(TableReader.Shape)
        /// A table without the column that is named.
        case otherTable(names: [String])
        case whole
    }

    // Lines before it were looked at.
    private var looked = 0
    private var isFound = false
    // Where a table that has not ended its first rows is looked at again.
    private var nextLook = 0

    /// The kind; nil where more bytes are needed, never where these are the last to be looked at.
    ///
    /// Text is lines as soon as one of them holds a payload, unless it begins as a table.
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
        return kind(ofText: text[start...], column: column, isLast: isLast)
    }

    // Line by line, so that it makes no difference how much is there.
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
        // A payload without a line break that is longer than what is looked at is base64 or JSON.
        let hasLines =
            text.contains(UInt8(ascii: "\n"))
            || text.count >= PayloadSplitter.lookAheadByteCountMax - 3
        let isText = hasLines && !text.contains(0)
        return isText ? .lines : .whole
    }

    // What holds a payload, and not in the column that is named.
    private static func kind(ofFound text: ArraySlice<UInt8>, _ column: String?) -> Kind {
        guard column != nil,
            case .table(let shape) = TableReader.look(at: text, column: nil, isLast: true),
            shape.hasHeader
        else { return .lines }
        return .otherTable(names: shape.names)
    }

    // A row over many lines is looked at once more after a quarter of it.
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
