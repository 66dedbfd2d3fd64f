/// Extracts payloads from a JSON array, element by element.
struct ElementReader: Sendable {
    private var pieces: [PayloadSplitter.Piece] = []

    private var scanner = ValueScanner(isArray: true)
    private var element: [UInt8] = []
    private var elementByteCount = 0

    /// Returns what was found since the last call.
    mutating func drained() -> [PayloadSplitter.Piece] {
        defer { pieces.removeAll() }
        return pieces
    }

    /// Takes the next bytes.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let (run, mark) = scanner.takeRun(of: rest)
            keep(rest.prefix(run))
            switch mark {
            case .inside, .outside: break
            case .end, .separator: emit()
            }
            rest = rest.dropFirst(mark == .end || mark == .inside ? run : run + 1)
        }
    }

    /// Takes the remaining bytes as an element.
    mutating func finish() { emit() }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        let room = AppStoreVerifier.payloadByteCountMax - elementByteCount
        elementByteCount += bytes.count
        if room > 0 { element.append(contentsOf: bytes.prefix(room)) }
    }

    private mutating func emit() {
        defer {
            element.removeAll(keepingCapacity: true)
            elementByteCount = 0
        }
        guard elementByteCount <= AppStoreVerifier.payloadByteCountMax else {
            pieces.append(.failure(.payloadTooLarge(elementByteCount)))
            return
        }
        let text = Envelope.trimmed(PayloadSplitter.withoutByteOrderMark(element[...]))
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
