internal import Events

/// Splits the bytes of a file or stream into payloads.
///
/// A JSON array yields its elements; a table (CSV, TSV) yields what its cells hold; lines (NDJSON,
/// logs, bare JWS, base64 receipts, PostgreSQL's COPY) yield what they hold; anything else is one
/// payload. Payloads inside wrappers are found (`PayloadFinder`). A payload keeps its exact bytes;
/// one that is stored as a string keeps the string's content. Accepts chunks of any size and
/// buffers no more than one line, one row or one payload.
package struct PayloadSplitter: Sendable {
    /// A payload, or why a stretch of the input cannot be one.
    package typealias Piece = Result<[UInt8], Rejection>

    // Set once the form of the input is known; nil if it is one payload.
    private var reader: (any PieceReader)?
    private var isDecided = false
    // Whether it is a table without the named column, of which nothing more is read.
    private var isRefused = false

    // The bytes from which the form is detected.
    private var start: [UInt8] = []
    private var piece = GatheredBytes()
    private var pieces: [Piece] = []
    private var head = HeadReader()
    private var hasPieces = false
    private var utf16: UTF16Text?
    private let column: String?

    /// Number of lines and rows so far, of all input, that hold no payload.
    package private(set) var skippedCount = 0

    /// How much of the input may be read to detect its form.
    static let lookAheadByteCountMax = 1 << 20

    /// A splitter at the beginning of an input.
    ///
    /// - Parameter column: The column of tables that holds payloads; nil to detect it.
    package init(column: String? = nil) { self.column = column }

    /// The payloads in bytes that are complete.
    package static func split(_ bytes: [UInt8], column: String? = nil) -> [Piece] {
        var splitter = PayloadSplitter(column: column)
        return splitter.append(bytes[...]) + splitter.finish()
    }

    /// Takes the next bytes and returns the payloads that are now complete.
    ///
    /// A payload above `AppStoreVerifier.payloadByteCountMax` is returned as `payload-too-large`;
    /// those after it are not affected.
    package mutating func append(_ bytes: ArraySlice<UInt8>) -> [Piece] {
        let bytes = utf16?.utf8(of: bytes)[...] ?? bytes
        if isDecided {
            take(bytes)
        } else {
            start.append(contentsOf: bytes)
            if utf16 == nil, let text = UTF16Text(startingWith: start) {
                utf16 = text
                start = utf16?.utf8(of: start.dropFirst(2)) ?? []
            }
            decide(isAtEnd: false)
        }
        return drained()
    }

    /// Returns what is left; afterwards the splitter is ready for another input.
    ///
    /// Lines or rows without a single payload among them are returned as `unsupported-format`.
    package mutating func finish() -> [Piece] {
        decide(isAtEnd: true)
        pieces += reader?.finish() ?? []
        emit()
        let skipped = reader?.skippedCount ?? 0
        if !hasPieces, pieces.isEmpty, skipped > 0 {
            pieces.append(.failure(.noPayload(lines: skipped, column: column)))
        }
        let (pieces, skippedCount) = (drained(), skippedCount + skipped)
        self = PayloadSplitter(column: column)
        self.skippedCount = skippedCount
        return pieces
    }

    private mutating func drained() -> [Piece] {
        defer { pieces.removeAll() }
        hasPieces = hasPieces || !pieces.isEmpty
        return pieces
    }

    private mutating func decide(isAtEnd: Bool) {
        guard !isDecided else { return }
        let isLast = isAtEnd || start.count > PayloadSplitter.lookAheadByteCountMax
        let seenFirst = start.prefix(PayloadSplitter.lookAheadByteCountMax + 1)
        guard let kind = head.kind(of: seenFirst, column: column, isLast: isLast) else { return }
        let seen = start
        start = []
        isDecided = true
        switch kind {
        case .array: reader = ElementReader()
        case .lines: reader = LineReader(column: column)
        case .table(let shape): reader = TableReader(shape)
        case .otherTable(let names):
            isRefused = true
            return pieces.append(.failure(.noColumn(column ?? "", among: names)))
        case .whole: return take(seen[...])
        }
        take(PayloadSplitter.withoutByteOrderMark(seen[...]))
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        if isRefused { return }
        if reader == nil { return piece.append(bytes) }
        pieces += reader?.append(bytes) ?? []
    }

    private mutating func emit() {
        guard !piece.isTooLong else {
            let reason = ForeignFormat.rejection(ofFile: piece.bytes[...])
            return pieces.append(.failure(reason ?? .payloadTooLarge(piece.byteCount)))
        }
        guard !piece.bytes.allSatisfy({ Envelope.isWhitespace($0) }) else { return }
        pieces.append(.success(piece.bytes))
    }
}

/// Extracts payloads from an input of a known form.
protocol PieceReader: Sendable {
    /// Takes the next bytes and returns the payloads that are now complete.
    mutating func append(_ bytes: ArraySlice<UInt8>) -> [PayloadSplitter.Piece]

    /// Returns the remaining payloads.
    mutating func finish() -> [PayloadSplitter.Piece]

    /// Number of lines or rows without a payload.
    var skippedCount: Int { get }
}

/// Bytes that are gathered; beyond the longest payload they are only counted.
struct GatheredBytes: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var byteCount = 0

    /// Whether there are more than a payload may have.
    var isTooLong: Bool { byteCount > AppStoreVerifier.payloadByteCountMax }

    mutating func append(_ more: ArraySlice<UInt8>) {
        let room = AppStoreVerifier.payloadByteCountMax - byteCount
        byteCount += more.count
        if room > 0 { bytes.append(contentsOf: more.prefix(room)) }
    }

    mutating func removeAll(keepingCapacity: Bool = false) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        byteCount = 0
    }
}

extension PayloadSplitter {
    /// Whether a text has the three segments of a compact JWS.
    static func isCompactJWS(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "e") && Base64.isURLText(text, orAnyOf: UInt8(ascii: "."))
            && text.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// The bytes without the byte order marks that editors and joined files put in front of them.
    static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while rest.starts(with: byteOrderMark) { rest = rest.dropFirst(byteOrderMark.count) }
        return rest
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// What to return for a value that holds no payload.
    ///
    /// The text of a string is returned only if it cannot be an object: a statement of the operator
    /// must stand alone, and a string may come from anyone.
    static func unrecognised(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let content = content(of: value)
        let first = Envelope.trimmed(content).first
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? value : content
    }

    /// A payload without the quotes of a string, which are not part of it.
    static func content(of payload: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let quote = UInt8(ascii: "\"")
        guard payload.count >= 2, payload.first == quote, payload.last == quote else {
            return payload
        }
        guard payload.contains(UInt8(ascii: "\\")) else { return payload.dropFirst().dropLast() }
        // Some writers escape the slashes of base64.
        return JSON.root(of: Array(payload))?.utf8 ?? payload
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
