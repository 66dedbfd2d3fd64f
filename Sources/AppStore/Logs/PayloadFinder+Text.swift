internal import Events

/// Payloads in the middle of a text: after a prefix, before more text, in quotes.
extension PayloadFinder {
    /// Checks every place in a text where a payload may begin.
    mutating func scan(_ text: ArraySlice<UInt8>, textDepth: Int) {
        allow(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            guard let next = PayloadFinder.candidate(in: text, from: position) else { return }
            switch text[next] {
            case UInt8(ascii: "{") where isEscaped(next, in: text):
                position = scan(escapedAt: next, in: text, textDepth: textDepth)
            case UInt8(ascii: "{"):
                position = scan(objectAt: next, in: text, textDepth: textDepth)
            case UInt8(ascii: "%"):
                position = scan(percentEncodedAt: next, in: text, textDepth: textDepth)
            case UInt8(ascii: "\""):
                position = scan(quotedAt: next, in: text, textDepth: textDepth)
            case UInt8(ascii: "x"), UInt8(ascii: "X"):
                position = scan(hexAt: next, in: text, textDepth: textDepth)
            default:
                let end = text[next...].firstIndex { !EncodedForm.isTokenByte($0) } ?? text.endIndex
                if end < text.endIndex, text[end] == UInt8(ascii: "%") {
                    position = scan(percentEncodedAt: next, in: text, textDepth: textDepth)
                } else {
                    _ = search(encoded: text[next..<end], textDepth: textDepth)
                    position = end
                }
            }
            if unfinishedObject != nil { return }
        }
    }

    // An object's brace, a quote with an object in it, or the first letters of base64.
    private static func candidate(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        text.withUnsafeBufferPointer { bytes in
            var index = start - text.startIndex
            var isInToken = index > 0 && EncodedForm.isTokenByte(bytes[index - 1])
            while index < bytes.count {
                let byte = bytes[index]
                switch byte {
                case UInt8(ascii: "{")
                where mayOpen(bytes, index) || EscapedText.mayOpen(bytes, index):
                    return text.startIndex + index
                case UInt8(ascii: "%") where EscapedText.mayOpenEncoded(bytes, index):
                    return text.startIndex + index
                case UInt8(ascii: "\"")
                where index + 2 < bytes.count
                    && bytes[index + 1] == UInt8(ascii: "{")
                    && (bytes[index + 2] == UInt8(ascii: "\\")
                        || bytes[index + 2] == UInt8(ascii: "\"")):
                    return text.startIndex + index
                case UInt8(ascii: "e"), UInt8(ascii: "M"), UInt8(ascii: "W"), UInt8(ascii: "T"),
                    UInt8(ascii: "Z"), UInt8(ascii: "H"):
                    if !isInToken, index + 2 < bytes.count,
                        EncodedForm.mayStart(byte, bytes[index + 1], bytes[index + 2])
                    {
                        return text.startIndex + index
                    }
                case UInt8(ascii: "x"), UInt8(ascii: "X"):
                    if HexText.mayStart(bytes, index) { return text.startIndex + index }
                default: break
                }
                isInToken = EncodedForm.isLetterOrDigit(byte)
                index += 1
            }
            return nil
        }
    }

    private func isEscaped(_ index: Int, in text: ArraySlice<UInt8>) -> Bool {
        text.withUnsafeBufferPointer { EscapedText.mayOpen($0, index - text.startIndex) }
    }

    // A JSON object's brace is followed by a name, perhaps on the next line.
    private static func mayOpen(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        var next = index + 1
        while next < bytes.count, Envelope.isWhitespace(bytes[next]) { next += 1 }
        return next == bytes.count || bytes[next] == UInt8(ascii: "\"")
    }

    // Returns where to continue.
    private mutating func scan(
        objectAt start: Int,
        in text: ArraySlice<UInt8>,
        textDepth: Int
    ) -> Int {
        var scanner = ValueScanner(isArray: false)
        let (count, mark) = scanner.takeRun(of: text[start...])
        guard spend(count, before: text.endIndex - start) else { return text.endIndex }
        let object = text[start..<start + count]
        guard mark == .end else {
            if mayGoOn(textDepth: textDepth), !scanner.isInsideString {
                unfinishedObject = start
            } else if PayloadMarks.areMentioned(in: object) {
                // It was cut off: taken so that it is refused by name, because skipping it would
                // lose it.
                take(object)
                return text.endIndex
            }
            return start + 1
        }
        guard let root = json(object) else {
            guard PayloadMarks.areMentioned(in: object) else { return start + 1 }
            take(malformed: object, textDepth: textDepth)
            return object.endIndex
        }
        visit(root, textDepth: textDepth)
        return object.endIndex
    }

    // An object in a string: escaped as in JSON, or with doubled quotes as in tables.
    private mutating func scan(
        quotedAt start: Int,
        in text: ArraySlice<UInt8>,
        textDepth: Int
    ) -> Int {
        let isDoubled =
            text[start + 2] == UInt8(ascii: "\"") && start + 3 < text.endIndex
            && text[start + 3] == UInt8(ascii: "\"")
        if isDoubled {
            let quoted = QuotedCell.read(text[start...])
            let end = quoted?.end ?? text.endIndex
            guard spend(end - start, before: text.endIndex - start) else { return text.endIndex }
            guard let (cell, end) = quoted else { return start + 1 }
            guard let root = json(cell[...]) else { return start + 1 }
            visit(root, textDepth: textDepth + 1)
            return end
        }
        var scanner = ValueScanner(isArray: false)
        let (count, mark) = scanner.takeRun(of: text[start...])
        guard spend(count, before: text.endIndex - start) else { return text.endIndex }
        guard mark == .end, let content = json(text[start..<start + count])?.utf8,
            let root = json(content)
        else { return start + 1 }
        visit(root, textDepth: textDepth + 1)
        return start + count
    }
}

extension PayloadFinder {
    // Scans bytes that a database prints in hexadecimal; returns where to continue.
    private mutating func scan(
        hexAt start: Int,
        in text: ArraySlice<UInt8>,
        textDepth: Int
    ) -> Int {
        let digits = HexText.digits(in: text[(start + 1)...])
        guard digits.count >= HexText.digitCountMin else { return start + 1 }
        guard spend(digits.count, before: text.endIndex - start) else { return text.endIndex }
        search(HexText.bytes(digits)[...], textDepth: textDepth + 1)
        return digits.endIndex
    }
}

/// Bytes in hexadecimal: `\\x7b22` of PostgreSQL, `0x7B22` of MySQL and SQL Server, `X'7b22'` of
/// SQLite.
private enum HexText {
    /// Fewest digits that are decoded: nginx, too, writes bytes in hexadecimal, but one at a time.
    static let digitCountMin = 64

    /// Whether the letter x at this place begins bytes.
    static func mayStart(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        guard index + 2 < bytes.count else { return false }
        if bytes[index + 1] == UInt8(ascii: "'") { return isDigit(bytes[index + 2]) }
        guard index > 0, isDigit(bytes[index + 1]), isDigit(bytes[index + 2]) else { return false }
        return bytes[index - 1] == UInt8(ascii: "\\") || bytes[index - 1] == UInt8(ascii: "0")
    }

    /// The digits after the letter and its quote, an even number.
    static func digits(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let text = text.first == UInt8(ascii: "'") ? text.dropFirst() : text
        let digits = text.prefix(while: isDigit)
        return digits.prefix(digits.count & ~1)
    }

    static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8] {
        CopyText.hexBytes((Array("\\x".utf8) + digits)[...]) ?? []
    }

    private static func isDigit(_ byte: UInt8) -> Bool { JSON.hexadecimalDigit(byte) != nil }
}

/// Payloads as base64: detects them by their first letters.
enum EncodedForm {
    /// Whether a token may begin with these letters: base64 of `{"`, `{ `, `[{` or a receipt, or of
    /// the base64 of either.
    static func mayStart(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        switch (first, second) {
        case (UInt8(ascii: "T"), UInt8(ascii: "U")): third == UInt8(ascii: "l")
        case (UInt8(ascii: "Z"), UInt8(ascii: "X")): third == UInt8(ascii: "l")
        case (UInt8(ascii: "e"), UInt8(ascii: "y")), (UInt8(ascii: "e"), UInt8(ascii: "w")): true
        case (UInt8(ascii: "W"), UInt8(ascii: "3")), (UInt8(ascii: "W"), UInt8(ascii: "y")): true
        case (UInt8(ascii: "M"), UInt8(ascii: "I")): true
        case (UInt8(ascii: "H"), UInt8(ascii: "4")): third == UInt8(ascii: "s")
        default: false
        }
    }

    /// Whether a text starts like base64 of JSON, of a JWS or of a receipt's base64.
    static func startsLikeText(_ text: ArraySlice<UInt8>) -> Bool {
        let start = text.startIndex
        return text.count > textByteCountMin && text.first != UInt8(ascii: "M")
            && mayStart(text[start], text[start + 1], text[start + 2])
    }

    private static let textByteCountMin = 16

    /// Whether a text starts like base64 of gzip: its first three bytes never differ.
    static func startsLikeGzip(_ text: ArraySlice<UInt8>) -> Bool {
        text.starts(with: Array("H4sI".utf8))
    }

    /// Whether a text starts like base64 of PKCS #7; a certificate starts differently.
    static func startsLikeReceipt(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "M") else { return false }
        let letters = text.lazy.filter { !Envelope.isWhitespace($0) }.prefix(headLetterCount)
        guard letters.count == headLetterCount,
            let head = Base64.decodeStandard(Array(letters)[...])
        else { return false }
        return ReceiptEncoding.isReceiptHead(head[...])
    }

    private static let headLetterCount = 24

    /// Whether a JWS carries a certificate chain, as all of Apple's do and no login token does.
    ///
    /// Also true for one that was cut off after its first certificate, so that it is refused.
    static func isAppleJWS(_ text: ArraySlice<UInt8>) -> Bool {
        let header = text.prefix { $0 != UInt8(ascii: ".") }
        let isWhole = header.endIndex < text.endIndex
        let letters = isWhole ? header : header.prefix(header.count & ~3)
        guard let decoded = Base64.decodeURLUnpadded(letters) else { return false }
        return SecretFreeBody.find(chainName, in: decoded[...])
    }

    private static let chainName = Array("\"x5c\"".utf8)

    /// Whether a text is only base64 of either alphabet and white space.
    static func isBase64(_ text: ArraySlice<UInt8>) -> Bool {
        text.allSatisfy { isTokenByte($0) && $0 != UInt8(ascii: ".") || Envelope.isWhitespace($0) }
    }

    /// Decodes base64 of JSON, of a JWS or of a receipt's base64; nil for anything else.
    static func decodedText(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard isBase64(text), let bytes = ReceiptEncoding.base64Decoded(text) else { return nil }
        let inner = Envelope.trimmed(bytes[...])
        let isJSON = inner.first == UInt8(ascii: "{") || inner.first == UInt8(ascii: "[")
        return isJSON || Envelope.isJWSText(inner) || startsLikeReceipt(inner) ? bytes : nil
    }

    /// Whether a byte may be part of a JWS or of base64.
    @inline(__always)
    static func isTokenByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "=")
    }

    /// Whether a byte is an ASCII letter or digit.
    @inline(__always)
    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
    }
}
