internal import Events

/// Takes the bytes of a file or stream apart into payloads.
///
/// A JSON array gives its elements, a file of lines (NDJSON, or one bare JWS or base64 receipt per
/// line) its lines,
/// objects written one after the other give each object, and anything else is one payload. A
/// payload keeps its exact bytes; of an element that is a string, the string's content. Feed it
/// chunks of any size: it holds no more than one payload.
public struct PayloadSplitter: Sendable {
    /// A payload, or why a stretch of the input cannot be one.
    public typealias Piece = Result<[UInt8], Rejection>

    private enum Mode {
        case undecided
        case lines
        case values(ValueScanner)
        case whole
    }

    private var mode = Mode.undecided
    private var piece: [UInt8] = []
    private var pieceByteCount = 0
    private var pieces: [Piece] = []

    /// How much of the input is looked at to tell lines from one object over many lines.
    static let lookAheadByteCountMax = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// A splitter that has seen nothing.
    public init() {}

    /// The payloads of bytes that are all there.
    public static func split(_ bytes: [UInt8]) -> [Piece] {
        var splitter = PayloadSplitter()
        return splitter.append(bytes[...]) + splitter.finish()
    }

    /// Takes the next bytes and gives the payloads that are complete now.
    ///
    /// A payload above `AppStoreVerifier.payloadByteCountMax` comes as `payload-too-large`; those
    /// after it are not affected.
    public mutating func append(_ bytes: ArraySlice<UInt8>) -> [Piece] {
        if case .undecided = mode {
            piece.append(contentsOf: bytes)
            decide(isAtEnd: false)
        } else {
            take(bytes)
        }
        return drained()
    }

    /// Gives what is left; the splitter is as new afterwards.
    public mutating func finish() -> [Piece] {
        decide(isAtEnd: true)
        emit()
        let pieces = drained()
        self = PayloadSplitter()
        return pieces
    }

    private mutating func drained() -> [Piece] {
        defer { pieces.removeAll() }
        return pieces
    }

    private mutating func decide(isAtEnd: Bool) {
        guard case .undecided = mode else { return }
        let isLast = isAtEnd || piece.count > PayloadSplitter.lookAheadByteCountMax
        guard let decided = PayloadSplitter.mode(of: piece, isLast: isLast) else { return }
        let seen = piece
        piece = []
        mode = decided
        take(seen.dropFirst(seen.starts(with: PayloadSplitter.byteOrderMark) ? 3 : 0))
    }

    // Nil where more bytes are needed. What tells lines from one object over many lines is the
    // first line, complete in itself, or a second one that starts like the first.
    private static func mode(of head: [UInt8], isLast: Bool) -> Mode? {
        let text = head.starts(with: byteOrderMark) ? head.dropFirst(3) : head[...]
        guard let start = text.firstIndex(where: { !Envelope.isWhitespace($0) }) else {
            return isLast ? .whole : nil
        }
        if text[start] == UInt8(ascii: "[") { return .values(ValueScanner(isArray: true)) }
        let isObject = text[start] == UInt8(ascii: "{")
        guard let lineEnd = text[start...].firstIndex(of: UInt8(ascii: "\n")) else {
            guard isLast else { return nil }
            return isObject ? .values(ValueScanner(isArray: false)) : .whole
        }
        let line = Envelope.trimmed(text[start..<lineEnd])
        guard isObject else {
            // A first line that is damaged must not take the others with it.
            let rest = text[lineEnd...].split(separator: UInt8(ascii: "\n")).dropLast(
                isLast ? 0 : 1
            )
            if isStatement(line) || rest.contains(where: isStatement) { return .lines }
            return isLast ? .whole : nil
        }
        if isComplete(line) { return .lines }
        guard let next = text[lineEnd...].first(where: { $0 != 0x0a && $0 != 0x0d }) else {
            return isLast ? .values(ValueScanner(isArray: false)) : nil
        }
        return next == UInt8(ascii: "{") || next == UInt8(ascii: "e")
            ? .lines : .values(ValueScanner(isArray: false))
    }

    private static func isStatement(_ line: ArraySlice<UInt8>) -> Bool {
        let line = Envelope.trimmed(line)
        if line.first == UInt8(ascii: "{") { return isComplete(line) }
        return isCompactJWS(line) || ReceiptEncoding.isWholeReceipt(line)
    }

    private static func isComplete(_ line: ArraySlice<UInt8>) -> Bool {
        var scanner = ValueScanner(isArray: false)
        let marks = line.map { scanner.take($0) }
        return marks.last == .end && marks.dropLast().allSatisfy { $0 == .inside }
    }

    private static func isCompactJWS(_ line: ArraySlice<UInt8>) -> Bool {
        line.count { $0 == UInt8(ascii: ".") } == 2
            && Base64.isURLText(line, orAnyOf: UInt8(ascii: "."))
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        switch mode {
        case .undecided, .whole: keep(bytes)
        case .lines:
            var rest = bytes
            while let end = rest.firstIndex(ofLong: UInt8(ascii: "\n")) {
                keep(rest[..<end])
                emit()
                rest = rest[(end + 1)...]
            }
            keep(rest)
        case .values(var scanner):
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
            mode = .values(scanner)
        }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        let room = AppStoreVerifier.payloadByteCountMax - pieceByteCount
        pieceByteCount += bytes.count
        if room > 0 { piece.append(contentsOf: bytes.prefix(room)) }
    }

    private mutating func emit() {
        defer {
            piece.removeAll(keepingCapacity: true)
            pieceByteCount = 0
        }
        guard pieceByteCount <= AppStoreVerifier.payloadByteCountMax else {
            pieces.append(.failure(.payloadTooLarge(pieceByteCount)))
            return
        }
        var payload = piece[...]
        if case .whole = mode {
            if payload.allSatisfy({ Envelope.isWhitespace($0) }) { return }
        } else {
            payload = Envelope.trimmed(payload)
        }
        guard !payload.isEmpty else { return }
        pieces.append(.success(Array(content(of: payload))))
    }

    // The quotes of a string element are the array's, not the payload's.
    private func content(of payload: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard payload.count >= 2, payload.first == quote, payload.last == quote else {
            return payload
        }
        guard payload.contains(UInt8(ascii: "\\")) else { return payload.dropFirst().dropLast() }
        // Some writers escape the slashes of base64.
        do {
            return try JSON(Array(payload)).root.utf8 ?? payload
        } catch {
            return payload
        }
    }
}

extension ArraySlice<UInt8> {
    // For texts of kilobytes.
    fileprivate func firstIndex(ofLong byte: UInt8) -> Int? {
        withUnsafeBytes { ByteScan.firstIndex(of: byte, in: $0) }.map { startIndex + $0 }
    }
}
