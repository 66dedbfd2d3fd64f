internal import Events

/// Extracts payloads from lines: NDJSON, logs with text around the payloads, bare JWS, receipts.
///
/// What does not fit into one line is followed over several: a pretty-printed object, also after a
/// prefix, the base64 of a receipt or of gzip, a JWS, the rows of a COPY statement. A line that
/// clearly is a payload is returned as it is; only others are parsed.
struct LineReader: PieceReader {
    private var pieces: [PayloadSplitter.Piece] = []
    /// Number of lines without a payload.
    private(set) var skippedCount = 0

    private enum Open {
        case nothing
        case object(ValueScanner, isBehindPrefix: Bool)
        case receipt(lettersLeft: Int?)
        // A JWS, or base64 of gzip, with the length of its first line; only the last is shorter.
        case wrapped(width: Int, isGzip: Bool)
        case rows(column: Int?, isRead: Bool)
    }

    private let column: String?
    private var open = Open.nothing
    private var parts = ContainerParts()
    private var line = GatheredBytes()
    private var lineNumber = 0
    // The bytes of an object or a receipt over several lines.
    private var record = GatheredBytes()
    // Whether a payload had text or a wrapper around it: then lines without a payload are expected.
    private var isLog = false

    /// Longest line, and longest payload over several lines, in bytes.
    static let lineByteCountMax = AppStoreVerifier.payloadByteCountMax

    /// Longest line without white space and without a payload that is skipped silently.
    private static let wordByteCountMax = 128

    /// A reader at the beginning of a file; in tables of a dump it reads only that column.
    init(column: String?) { self.column = column }

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [PayloadSplitter.Piece] {
        defer { pieces.removeAll() }
        var rest = bytes
        while let end = rest.firstIndex(ofLong: UInt8(ascii: "\n")) {
            if line.byteCount == 0 {
                take(line: rest[..<end])
            } else {
                line.append(rest[..<end])
                endLine()
            }
            rest = rest[(end + 1)...]
        }
        line.append(rest)
        return pieces
    }

    // Takes the remaining bytes as a line, and closes what is open.
    mutating func finish() -> [PayloadSplitter.Piece] {
        if line.byteCount > 0 { endLine() }
        for line in parts.drained() { take(joined: line) }
        close()
        return pieces
    }

    private mutating func endLine() {
        let (whole, count) = (line.bytes, line.byteCount)
        line.removeAll(keepingCapacity: count < PayloadSplitter.lookAheadByteCountMax)
        guard count > LineReader.lineByteCountMax else { return take(line: whole[...]) }
        lineNumber += 1
        close()
        let reason = Rejection(
            .payloadTooLarge,
            "It has \(count) bytes; at most \(LineReader.lineByteCountMax) are accepted."
        )
        pieces.append(.failure(reason.at(line: lineNumber)))
    }

    private mutating func take(line: ArraySlice<UInt8>) {
        lineNumber += 1
        switch parts.take(line) {
        case .line: take(joined: line)
        case .part: isLog = true
        case .whole(let line): take(joined: line[...])
        }
    }

    private mutating func take(joined line: some Collection<UInt8>) {
        let line = ArraySlice(line)
        guard line.count <= LineReader.lineByteCountMax else {
            return pieces.append(
                .failure(Rejection.payloadTooLarge(line.count).at(line: lineNumber))
            )
        }
        switch open {
        case .nothing: begin(line)
        case .object(let scanner, let isBehindPrefix):
            goOn(line, scanner, isBehindPrefix: isBehindPrefix)
        case .receipt(let lettersLeft): goOn(line, lettersLeft: lettersLeft)
        case .wrapped(let width, let isGzip): goOn(line, width: width, isGzip: isGzip)
        case .rows(let column, let isRead): take(row: line, column: column, isRead: isRead)
        }
    }

    // Reads a line, or the rest of one after a value, value by value.
    private mutating func begin(_ line: ArraySlice<UInt8>, isRest: Bool = false) {
        var next = take(startOf: line, isRest: isRest)
        while let rest = next { next = take(startOf: rest, isRest: true) }
    }

    // Returns what is left after a value; nil if the line is done.
    private mutating func take(
        startOf line: ArraySlice<UInt8>,
        isRest: Bool
    ) -> ArraySlice<UInt8>? {
        let text = Envelope.trimmed(PayloadSplitter.withoutByteOrderMark(line))
        guard let first = text.first else { return nil }
        // A value that continues on the next line keeps the white space before its line break.
        let open = line[text.startIndex...]
        switch first {
        case UInt8(ascii: "{"): return take(value: open, isRest: isRest)
        case UInt8(ascii: "[") where LineReader.startsArray(text), UInt8(ascii: "\""):
            return take(value: open, isRest: isRest)
        case UInt8(ascii: ",") where isRest: return text.dropFirst()
        default:
            if PayloadSplitter.isCompactJWS(text) {
                pieces.append(.success(Array(text)))
            } else if first == UInt8(ascii: "M"), ReceiptEncoding.looksLikeReceipt(text),
                EncodedForm.isBase64(text)
            {
                begin(receipt: text)
            } else if first == UInt8(ascii: "e"), CutPayload.mayGoOn(text) {
                self.open = .wrapped(width: text.count, isGzip: false)
                record.append(text)
            } else if first == UInt8(ascii: "H"), CutPayload.mayGoOnAsGzip(text) {
                self.open = .wrapped(width: text.count, isGzip: true)
                record.append(text)
            } else if first == UInt8(ascii: "C"), let names = CopyText.columns(ofStatement: text) {
                begin(rowsWith: names)
            } else {
                search(open, isRest: isRest)
            }
            return nil
        }
    }

    /// Whether a bracket opens an array that may hold payloads, rather than a log line's timestamp.
    static func startsArray(_ text: ArraySlice<UInt8>) -> Bool {
        guard let next = text.dropFirst().first(where: { !Envelope.isWhitespace($0) }) else {
            return true
        }
        return "{[\"]".utf8.contains(next)
    }

    // MARK: Values

    // Returns what follows the value.
    private mutating func take(value text: ArraySlice<UInt8>, isRest: Bool) -> ArraySlice<UInt8>? {
        var scanner = ValueScanner(isArray: false)
        let (count, mark) = scanner.takeRun(of: text)
        if mark == .end {
            take(whole: text.prefix(count))
            return text.dropFirst(count)
        }
        if text.first == UInt8(ascii: "\"") {
            search(text, isRest: isRest)
        } else if scanner.isInsideString {
            // No string continues after a line break: it was cut off.
            pieces.append(.success(Array(Envelope.trimmed(text))))
        } else {
            open = .object(scanner, isBehindPrefix: false)
            record.append(text)
        }
        return nil
    }

    private mutating func take(whole text: ArraySlice<UInt8>) {
        if PayloadMarks.isPlain(text) { return pieces.append(.success(Array(text))) }
        let value = Array(text)
        switch PayloadFinder.search(json: value) {
        case .whole: pieces.append(.success(value))
        case .malformed:
            var finder = PayloadFinder()
            finder.search(value[...])
            pieces += finder.pieces.isEmpty ? [.success(value)] : finder.pieces
        case .inside(let found):
            pieces += found
            isLog = true
        case .nothing(let isLogRecord):
            if isLog || isLogRecord {
                skippedCount += 1
            } else {
                pieces.append(.success(Array(PayloadSplitter.unrecognised(text))))
            }
        }
    }

    // MARK: Objects over several lines

    private mutating func goOn(
        _ line: ArraySlice<UInt8>,
        _ scanner: ValueScanner,
        isBehindPrefix: Bool
    ) {
        guard goesOn(line, isBehindPrefix: isBehindPrefix) else {
            close()
            return begin(line)
        }
        var scanner = scanner
        let (count, mark) = scanner.takeRun(of: line)
        record.append([UInt8(ascii: "\n")])
        record.append(line.prefix(count))
        if mark == .end {
            close(isEnded: true)
            begin(line.dropFirst(count), isRest: true)
        } else if scanner.isInsideString {
            close()
        } else {
            open = .object(scanner, isBehindPrefix: isBehindPrefix)
        }
    }

    // A damaged object must not swallow those after it: a line that cannot be part of it ends it.
    private func goesOn(_ line: ArraySlice<UInt8>, isBehindPrefix: Bool) -> Bool {
        guard let first = line.first else { return true }
        switch first {
        case UInt8(ascii: "{"):
            let last = record.bytes.last { !Envelope.isWhitespace($0) }
            return !isBehindPrefix && (last == UInt8(ascii: "[") || last == UInt8(ascii: ","))
        case UInt8(ascii: "["): return LineReader.startsArray(line)
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\""),
            UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"):
            return true
        default: return false
        }
    }

    // Closes what is open over several lines.
    private mutating func close(isEnded: Bool = false) {
        let (ended, bytes, count) = (open, record.bytes, record.byteCount)
        (open, record) = (.nothing, GatheredBytes())
        guard count > 0 else { return }
        guard count <= LineReader.lineByteCountMax else {
            return pieces.append(.failure(Rejection.payloadTooLarge(count)))
        }
        if case .wrapped(_, isGzip: true) = ended {
            // One letter more than whole bytes have is not part of it.
            return search(bytes.dropLast(bytes.count % 4 == 1 ? 1 : 0)[...], isRest: false)
        }
        guard case .object(_, let isBehindPrefix) = ended else {
            return pieces.append(.success(bytes))
        }
        if isBehindPrefix {
            search(bytes[...], isRest: false, mayGoOn: false)
        } else if isEnded {
            take(whole: bytes[...])
        } else {
            closeDamaged(bytes[...])
        }
    }

    // The last line may be a separate object that was taken for an element.
    private mutating func closeDamaged(_ bytes: ArraySlice<UInt8>) {
        if let lineEnd = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            let last = bytes[(lineEnd + 1)...]
            var scanner = ValueScanner(isArray: false)
            if last.first == UInt8(ascii: "{"), scanner.takeRun(of: last).mark == .end {
                pieces.append(.success(Array(Envelope.trimmed(bytes[..<lineEnd]))))
                return begin(last)
            }
        }
        pieces.append(.success(Array(Envelope.trimmed(bytes))))
    }
}

// Text, receipts and rows.
extension LineReader {
    private mutating func search(
        _ text: ArraySlice<UInt8>,
        isRest: Bool,
        mayGoOn: Bool = true
    ) {
        var finder = PayloadFinder(isLine: mayGoOn)
        let escaped = CopyText.payloads(inEscaped: text)
        if !escaped.isEmpty { return take(found: escaped) }
        finder.search(text)
        if let start = finder.unfinishedObject {
            var scanner = ValueScanner(isArray: false)
            _ = scanner.takeRun(of: text[start...])
            open = .object(scanner, isBehindPrefix: true)
            record.append(text[start...])
            if !finder.pieces.isEmpty { take(found: finder.pieces) }
            return
        }
        let found = finder.finished
        if !found.isEmpty { return take(found: found) }
        guard !isRest else { return }
        let isWord = mayGoOn && !Envelope.trimmed(text).contains { Envelope.isWhitespace($0) }
        if isWord, !isLog, text.count > LineReader.wordByteCountMax {
            // Probably the remains of a payload, not a line of a log.
            pieces.append(.success(Array(Envelope.trimmed(text))))
        } else if let cut = CutPayload.find(in: text) {
            pieces.append(.success(cut))
        } else {
            skippedCount += 1
        }
    }

    private mutating func take(found: [PayloadSplitter.Piece]) {
        pieces += found
        isLog = true
    }

    private mutating func begin(receipt text: ArraySlice<UInt8>) {
        let count = ReceiptEncoding.letterCount(ofReceiptStarting: text)
        if let count, text.count >= count { return pieces.append(.success(Array(text))) }
        open = .receipt(lettersLeft: count.map { $0 - text.count })
        record.append(text)
    }

    private mutating func goOn(_ line: ArraySlice<UInt8>, lettersLeft: Int?) {
        let text = Envelope.trimmed(line)
        guard !text.isEmpty, EncodedForm.isBase64(text), !EncodedForm.startsLikeReceipt(text) else {
            close()
            return begin(line)
        }
        record.append([UInt8(ascii: "\n")])
        record.append(text)
        let left = lettersLeft.map { $0 - text.count }
        open = .receipt(lettersLeft: left)
        if left ?? 1 <= 0 || text.last == UInt8(ascii: "=") { close() }
    }

    private mutating func goOn(_ line: ArraySlice<UInt8>, width: Int, isGzip: Bool) {
        let text = Envelope.trimmed(line)
        guard !text.isEmpty, text.count <= width, !CutPayload.mayGoOn(text),
            isGzip
                ? CutPayload.goesOnAsGzip(text)
                : Base64.isURLText(text, orAnyOf: UInt8(ascii: "."))
        else {
            close()
            return begin(line)
        }
        record.append(text)
        if text.count < width || text.last == UInt8(ascii: "=") { close() }
    }

    // In a dump with many tables, only those that have the column are read.
    private mutating func begin(rowsWith names: [String]) {
        guard let column else { return open = .rows(column: nil, isRead: true) }
        let index = names.firstIndex(of: column)
        open = .rows(column: index, isRead: index != nil)
    }

    private mutating func take(row: ArraySlice<UInt8>, column: Int?, isRead: Bool) {
        let row = row.last == UInt8(ascii: "\r") ? row.dropLast() : row
        if row.elementsEqual("\\.".utf8) { return open = .nothing }
        let found =
            isRead ? TableReader.payloads(in: CopyText.cells(of: row), column: column) : []
        if found.isEmpty, let cut = isRead ? CutPayload.find(in: row) : nil {
            pieces.append(.success(cut))
        } else if found.isEmpty {
            skippedCount += 1
        } else {
            take(found: found)
        }
    }
}
