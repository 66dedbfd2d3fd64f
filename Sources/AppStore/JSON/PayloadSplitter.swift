internal import Events

/// Takes the bytes of a file or stream apart into payloads.
///
/// A JSON array gives its elements, a table (CSV, TSV) what its cells hold, lines (NDJSON, logs,
/// bare JWS, base64 receipts, PostgreSQL's COPY) what they hold, and anything else is one payload.
/// Payloads inside of wrappers are found (`PayloadFinder`). A payload keeps its exact bytes; of one
/// that stands there as a string, the string's content. Feed it chunks of any size: it holds no
/// more than one line, one row or one payload.
public struct PayloadSplitter: Sendable {
    /// A payload, or why a stretch of the input cannot be one.
    public typealias Piece = Result<[UInt8], Rejection>

    // One of them once it is known what the input is; none where it is one payload.
    private var lines: LineReader?
    private var table: TableReader?
    private var elements: ElementReader?
    private var isDecided = false
    // Of a table without the column that is named: nothing more of it is read.
    private var isRefused = false

    private var piece: [UInt8] = []
    private var pieceByteCount = 0
    private var pieces: [Piece] = []
    private var head = HeadReader()
    private var hasPieces = false
    private let column: String?

    /// Lines and rows that hold no payload, of all input so far.
    public private(set) var passedOver = 0

    /// How much of the input is looked at to tell what it is.
    static let lookAheadByteCountMax = 1 << 20

    /// A splitter that has seen nothing.
    ///
    /// - Parameter column: The column of tables that holds payloads; nil where it is to be found.
    public init(column: String? = nil) { self.column = column }

    /// The payloads of bytes that are all there.
    public static func split(_ bytes: [UInt8], column: String? = nil) -> [Piece] {
        var splitter = PayloadSplitter(column: column)
        return splitter.append(bytes[...]) + splitter.finish()
    }

    /// Takes the next bytes and gives the payloads that are complete now.
    ///
    /// A payload above `AppStoreVerifier.payloadByteCountMax` comes as `payload-too-large`; those
    /// after it are not affected.
    public mutating func append(_ bytes: ArraySlice<UInt8>) -> [Piece] {
        if isDecided {
            take(bytes)
        } else {
            piece.append(contentsOf: bytes)
            decide(isAtEnd: false)
        }
        return drained()
    }

    /// Gives what is left; the splitter is ready for other input afterwards.
    ///
    /// Lines or rows without a single payload among them come as `unsupported-format`.
    public mutating func finish() -> [Piece] {
        decide(isAtEnd: true)
        lines?.finish()
        pieces += lines?.drained() ?? []
        pieces += table?.finish() ?? []
        elements?.finish()
        pieces += elements?.drained() ?? []
        emit()
        let passed = (lines?.passedOver ?? 0) + (table?.passedOver ?? 0)
        if !hasPieces, pieces.isEmpty, passed > 0 {
            pieces.append(.failure(.noPayload(lines: passed, column: column)))
        }
        let (pieces, passedOver) = (drained(), passedOver + passed)
        self = PayloadSplitter(column: column)
        self.passedOver = passedOver
        return pieces
    }

    private mutating func drained() -> [Piece] {
        defer { pieces.removeAll() }
        hasPieces = hasPieces || !pieces.isEmpty
        return pieces
    }

    private mutating func decide(isAtEnd: Bool) {
        guard !isDecided else { return }
        let isLast = isAtEnd || piece.count > PayloadSplitter.lookAheadByteCountMax
        let seenFirst = piece.prefix(PayloadSplitter.lookAheadByteCountMax + 1)
        guard let kind = head.kind(of: seenFirst, column: column, isLast: isLast) else { return }
        let seen = piece
        piece = []
        isDecided = true
        switch kind {
        case .array: elements = ElementReader()
        case .lines: lines = LineReader(column: column)
        case .table(let shape): table = TableReader(shape)
        case .otherTable(let names):
            isRefused = true
            return pieces.append(.failure(.noColumn(column ?? "", among: names)))
        case .whole: return take(seen[...])
        }
        take(PayloadSplitter.withoutByteOrderMark(seen[...]))
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        if isRefused { return }
        if lines != nil {
            lines?.append(bytes)
            pieces += lines?.drained() ?? []
        } else if table != nil {
            pieces += table?.append(bytes) ?? []
        } else if elements != nil {
            elements?.append(bytes)
            pieces += elements?.drained() ?? []
        } else {
            keep(bytes)
        }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        let room = AppStoreVerifier.payloadByteCountMax - pieceByteCount
        pieceByteCount += bytes.count
        if room > 0 { piece.append(contentsOf: bytes.prefix(room)) }
    }

    private mutating func emit() {
        guard pieceByteCount <= AppStoreVerifier.payloadByteCountMax else {
            return pieces.append(.failure(.payloadTooLarge(pieceByteCount)))
        }
        guard !piece.allSatisfy({ Envelope.isWhitespace($0) }) else { return }
        pieces.append(.success(piece))
    }
}

extension PayloadSplitter {
    /// Whether a text has the three segments of a compact JWS.
    static func isCompactJWS(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "e") && Base64.isURLText(text, orAnyOf: UInt8(ascii: "."))
            && text.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// The bytes without the marks that editors and joined files leave in front of them.
    static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while rest.starts(with: byteOrderMark) { rest = rest.dropFirst(byteOrderMark.count) }
        return rest
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// What is given of a value that holds no payload.
    ///
    /// The text of a string is given only where it cannot be an object: a statement of the operator
    /// stands by itself, and in a string it may be anybody's.
    static func unrecognised(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let content = content(of: value)
        let first = Envelope.trimmed(content).first
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? value : content
    }

    /// A payload without the quotes of a string, which are not its own.
    static func content(of payload: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
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

extension Rejection {
    fileprivate static func noColumn(_ column: String, among names: [String]) -> Rejection {
        Rejection(
            .unsupportedFormat,
            "The table has no column \(column), so it was not read; its columns are "
                + names.joined(separator: ", ") + "."
        )
    }

    fileprivate static func noPayload(lines: Int, column: String?) -> Rejection {
        let place = column.map { " in the column \($0)" } ?? ""
        return Rejection(
            .unsupportedFormat,
            "The file contains no payload: none was found in \(lines) lines\(place). Expected "
                + "notifications, JWS, app receipts or verifyReceipt responses, also after a "
                + "prefix, inside JSON or in the cells of a table."
        )
    }
}

extension ArraySlice<UInt8> {
    /// The first index of a byte, for texts of kilobytes.
    func firstIndex(ofLong byte: UInt8) -> Int? {
        withUnsafeBytes { ByteScan.firstIndex(of: byte, in: $0) }.map { startIndex + $0 }
    }
}
