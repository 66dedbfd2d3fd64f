/// Extracts payloads from a JSON array, element by element.
struct ElementReader: PieceReader {
    private var pieces: [PayloadSplitter.Piece] = []

    private var scanner = ValueScanner(isArray: true)
    private var element = GatheredBytes()

    let skippedCount = 0

    mutating func append(_ bytes: ArraySlice<UInt8>) -> [PayloadSplitter.Piece] {
        defer { pieces.removeAll() }
        var rest = bytes
        while !rest.isEmpty {
            let (run, mark) = scanner.takeRun(of: rest)
            element.append(rest.prefix(run))
            switch mark {
            case .inside, .outside: break
            case .end, .separator: emit()
            }
            rest = rest.dropFirst(mark == .end || mark == .inside ? run : run + 1)
        }
        return pieces
    }

    // Takes the remaining bytes as an element.
    mutating func finish() -> [PayloadSplitter.Piece] {
        emit()
        return pieces
    }

    private mutating func emit() {
        defer { element.removeAll(keepingCapacity: true) }
        guard !element.isTooLong else {
            return pieces.append(.failure(.payloadTooLarge(element.byteCount)))
        }
        let text = Envelope.trimmed(PayloadSplitter.withoutByteOrderMark(element.bytes[...]))
        guard !text.isEmpty else { return }
        let content = PayloadSplitter.content(of: text)
        if PayloadMarks.isPlain(text) || PayloadSplitter.isCompactJWS(content) {
            return pieces.append(.success(Array(content)))
        }
        if case .inside(let found) = PayloadFinder.search(json: Array(text)) {
            pieces += found
        } else {
            pieces.append(.success(Array(PayloadSplitter.unrecognised(text))))
        }
    }
}
