internal import Events

/// Finds the payloads inside what a log, a table or a database keeps around them.
///
/// One rule covers all wrappers: whatever is recognised as a payload is taken, at any depth that
/// the limits allow, and nothing inside it; everything else is searched. A payload that its wrapper
/// contains verbatim, or as a string, is returned with exactly the bytes that arrived. One that
/// occurs twice in the same piece of input, for example as an object and as its text, is returned
/// once.
struct PayloadFinder {
    /// What was found, in the order of the input.
    private(set) var pieces: [PayloadSplitter.Piece] = []
    /// Where an object begins that does not end in the text.
    var unfinishedObject: Int?

    /// Whether the text is one line of several, so that an object may end on a later one.
    private let isLine: Bool

    private var seen: Set<Digest> = []
    private var lesser: [UInt8]?
    private var decoded: [[UInt8]] = []
    // A log that mentions decoded data is not a store of it.
    private var takesDecoded = true
    private var unpackedByteCount = 0
    private var work = 0
    private var workMax = PayloadFinder.workByteCountMin

    /// How deep text may be nested in text: a record, a request, a body and what it holds.
    static let textDepthMax = 6

    /// Bytes that may be scanned beyond the input's own size, to find where objects end.
    static let workByteCountMin = 1 << 16

    /// The same limit, as a multiple of the input.
    static let workFactor = 8

    /// Bytes that base64 of gzip in one piece of input may unpack to, in all.
    static let unpackedByteCountMax = AppStoreVerifier.payloadByteCountMax

    /// A finder that has found nothing.
    init(isLine: Bool = false) { self.isLine = isLine }

    /// Whether an object that does not end in the text may continue after it.
    func mayGoOn(textDepth: Int) -> Bool { isLine && textDepth == 0 }

    /// What a JSON value or a line of text holds.
    enum Found {
        /// It is itself a payload.
        case whole
        /// It contains these.
        case inside([PayloadSplitter.Piece])
        /// It contains none; a log has many such lines.
        case nothing(isLogRecord: Bool)
        /// It is not JSON.
        case malformed
    }

    /// What the text of one JSON value holds.
    static func search(json text: [UInt8]) -> Found {
        guard let root = JSON.root(of: text) else { return .malformed }
        var finder = PayloadFinder()
        finder.visit(root, textDepth: 0, isTop: true)
        let pieces = finder.finished
        guard let first = pieces.first else {
            return .nothing(isLogRecord: PayloadMarks.isLogRecord(root))
        }
        if pieces.count == 1, case .success(let payload) = first, payload == text { return .whole }
        return .inside(pieces)
    }

    /// All that was found; if nothing was, decoded statements, otherwise the lesser form that was
    /// skipped.
    var finished: [PayloadSplitter.Piece] {
        guard pieces.isEmpty else { return pieces }
        let others = decoded.isEmpty ? [lesser].compactMap { $0 } : decoded
        return others.map { .success($0) }
    }

    /// Takes a value as a payload, or searches what is inside it.
    mutating func visit(_ value: JSON.Value, textDepth: Int, isTop: Bool = false) {
        switch value.kind {
        case .string: search(value.utf8 ?? [], textDepth: textDepth + 1)
        case .array: for element in value.elements { visit(element, textDepth: textDepth) }
        case .object: visit(object: value, textDepth: textDepth, isTop: isTop)
        default: break
        }
    }

    private mutating func visit(object: JSON.Value, textDepth: Int, isTop: Bool) {
        if let typing = TypedJSON.typing(ofMembers: object) {
            return search(typing.plainText(object)[...], textDepth: textDepth + 1)
        }
        let rank = PayloadMarks.rank(object, isTop: isTop)
        if rank == .payload { return take(object) }
        if isTop, PayloadMarks.isLogRecord(object) { takesDecoded = false }
        // A verifyReceipt request: its receipt proves itself, and its password is never kept.
        let receipt = object["receipt-data"]?.utf8
        if let receipt { take(Envelope.trimmed(receipt)) }
        let count = pieces.count
        for (name, value) in object.members
        where receipt == nil || !(name.utf8?.elementsEqual("receipt-data".utf8) ?? false) {
            visit(value, textDepth: textDepth)
        }
        guard pieces.count == count else { return }
        if takesDecoded, DecodedStatement(object) != nil { take(decoded: object) }
        if rank == .lesser, lesser == nil { lesser = text(of: object) }
    }

    /// Searches a text for payloads: a line, a cell, the content of a string.
    mutating func search(_ text: ArraySlice<UInt8>, textDepth: Int = 0) {
        let bytes = PayloadSplitter.withoutByteOrderMark(text)
        let text = Envelope.trimmed(bytes)
        guard let first = text.first, textDepth <= PayloadFinder.textDepthMax else { return }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
            if let root = json(text) { return visit(root, textDepth: textDepth) }
        case 0x30 where ReceiptEncoding.isReceiptHead(text):
            // A byte of a receipt that looks like white space is part of it.
            return take(ReceiptEncoding.stated(bytes[text.startIndex...]))
        case UInt8(ascii: "\\"):
            if let bytes = CopyText.hexBytes(text) {
                return search(bytes[...], textDepth: textDepth + 1)
            }
        default:
            if search(encoded: text, textDepth: textDepth) { return }
        }
        let takes = takesDecoded
        takesDecoded = false
        scan(text, textDepth: textDepth)
        takesDecoded = takes
    }

    /// A text that is JSON; nil for any other.
    func json(_ text: ArraySlice<UInt8>) -> JSON.Value? { JSON.root(of: Array(text)) }

    /// Whether a whole text was a JWS, or base64 of a receipt, of gzip or of JSON.
    mutating func search(encoded text: ArraySlice<UInt8>, textDepth: Int) -> Bool {
        if text.first == UInt8(ascii: "e"), Envelope.isJWSText(text), EncodedForm.isAppleJWS(text) {
            take(text)
            return true
        }
        if EncodedForm.startsLikeReceipt(text), EncodedForm.isBase64(text) {
            take(text)
            return true
        }
        if EncodedForm.startsLikeGzip(text), EncodedForm.isBase64(text),
            let packed = ReceiptEncoding.base64Decoded(text)
        {
            search(gzip: packed, textDepth: textDepth)
            return true
        }
        guard EncodedForm.startsLikeText(text), let decoded = EncodedForm.decodedText(text) else {
            return false
        }
        search(decoded[...], textDepth: textDepth + 1)
        return true
    }

    // CloudWatch, for example, hands logs on like this.
    private mutating func search(gzip packed: [UInt8], textDepth: Int) {
        let reader = GzipReader()
        reader.append(packed)
        var text: [UInt8] = []
        while case .bytes(let bytes) = reader.next() {
            unpackedByteCount += bytes.count
            guard unpackedByteCount <= PayloadFinder.unpackedByteCountMax else {
                return refuse(
                    "The line has base64 of gzip that unpacks to more than "
                        + "\(PayloadFinder.unpackedByteCountMax) bytes; it was not searched for "
                        + "payloads. Unpack it and ingest what it contains."
                )
            }
            text += bytes
        }
        allow(text.count)
        search(text[...], textDepth: textDepth + 1)
        guard !reader.isAtEndOfMember, PayloadMarks.areMentioned(in: text[...]) else { return }
        refuse(
            "The line has base64 of gzip that is damaged or cut off; \(text.count) bytes of its "
                + "content were searched for payloads. Ingest the whole text."
        )
    }

    private mutating func refuse(_ message: String) {
        pieces.append(.failure(Rejection(.unsupportedFormat, message)))
    }

    /// Raises the limit of work by what a text of that length is worth.
    mutating func allow(_ byteCount: Int) { workMax += PayloadFinder.workFactor * byteCount }

    /// Counts bytes that are scanned more than once.
    ///
    /// - Parameters:
    ///   - byteCount: How many.
    ///   - rest: How many bytes are not searched if the limit is exceeded.
    /// - Returns: False when the limit is exceeded.
    mutating func spend(_ byteCount: Int, before rest: Int) -> Bool {
        guard work <= workMax else { return false }
        work += byteCount
        guard work > workMax else { return true }
        refuse(
            "The line has too many unclosed objects to search it for payloads: \(rest) "
                + "bytes were not searched. Extract the payloads and ingest those."
        )
        return false
    }

    /// Takes bytes as a payload, once.
    mutating func take(_ payload: ArraySlice<UInt8>) {
        let letters = payload.filter { !Envelope.isWhitespace($0) }
        guard seen.insert(Digest.of(letters)).inserted else { return }
        pieces.append(.success(Array(payload)))
    }

    private mutating func take(_ object: JSON.Value) {
        let text = text(of: object)
        let identity = object["signedPayload"]?.utf8.map { Array($0) } ?? object.canonicalText
        guard seen.insert(Digest.of(identity)).inserted else { return }
        pieces.append(.success(text))
    }

    private mutating func take(decoded object: JSON.Value) {
        guard seen.insert(Digest.of(object.canonicalText)).inserted else { return }
        decoded.append(text(of: object))
    }

    // A JWS proves itself, whatever types are around it.
    private func text(of object: JSON.Value) -> [UInt8] {
        object["signedPayload"]?.kind != .string && TypedJSON.holdsExtended(object)
            ? TypedJSON.extended.plainText(object) : Array(object.bytes)
    }
}
