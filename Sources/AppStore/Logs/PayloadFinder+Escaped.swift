/// Payloads whose quotes the text around them escapes: SQL, a log's own quoting, URLs.
extension PayloadFinder {
    // Scans an object with a backslash before each quote; returns where to continue.
    mutating func scan(
        escapedAt start: Int,
        in text: ArraySlice<UInt8>,
        textDepth: Int
    ) -> Int {
        var scanner = ValueScanner(isArray: false)
        var (object, end, isEnded): ([UInt8], Int, Bool) = ([], start, false)
        // In blocks, because one line of a dump contains hundreds of objects.
        while !isEnded, end < text.endIndex {
            let blockStart = end
            let block = EscapedText.content(of: text, from: &end)
            guard spend(end - blockStart, before: text.endIndex - start) else {
                return text.endIndex
            }
            let (count, mark) = scanner.takeRun(of: block[...])
            object += block.prefix(count)
            guard mark != .inside else { continue }
            isEnded = true
            end = EscapedText.end(of: count, in: text[blockStart...])
        }
        if isEnded, let root = json(object[...]) {
            visit(root, textDepth: textDepth + 1)
            return end
        }
        guard PayloadMarks.areMentioned(in: object[...]) else { return start + 1 }
        take(malformed: object[...], textDepth: textDepth)
        return end
    }

    // Takes an object that is not JSON. What proves itself is found in anything: a hash of Ruby or
    // Elixir, a document of MongoDB's shell. Of others the whole is refused by name, because
    // skipping it would lose it.
    mutating func take(malformed object: ArraySlice<UInt8>, textDepth: Int) {
        let count = pieces.count
        if textDepth < PayloadFinder.textDepthMax {
            scan(object.dropFirst(), textDepth: textDepth + 1)
        }
        if pieces.count == count || PayloadMarks.areUnsignedMentioned(in: object) { take(object) }
    }

    // Scans an object whose braces a URL or a form has encoded; returns where to continue.
    mutating func scan(
        percentEncodedAt start: Int,
        in text: ArraySlice<UInt8>,
        textDepth: Int
    ) -> Int {
        let token = text[start...].prefix {
            !Envelope.isWhitespace($0) && !"\"'&<>".utf8.contains($0)
        }
        guard spend(token.count, before: text.endIndex - start) else { return text.endIndex }
        search(EscapedText.percentDecoded(token)[...], textDepth: textDepth + 1)
        return token.endIndex
    }
}

/// Text that another text has escaped.
enum EscapedText {
    /// Whether the brace may open an object: the first quote after it has a backslash.
    static func mayOpen(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        var next = index + 1
        while next < bytes.count {
            if Envelope.isWhitespace(bytes[next]) {
                next += 1
            } else if bytes[next] == UInt8(ascii: "\\"), next + 1 < bytes.count,
                "nrt".utf8.contains(bytes[next + 1])
            {
                next += 2
            } else {
                break
            }
        }
        guard next + 1 < bytes.count, bytes[next] == UInt8(ascii: "\\") else { return false }
        // nginx writes a quote as \x22.
        return bytes[next + 1] == UInt8(ascii: "\"")
            || next + 3 < bytes.count && bytes[next + 1] == UInt8(ascii: "x")
                && bytes[next + 2] == UInt8(ascii: "2") && bytes[next + 3] == UInt8(ascii: "2")
    }

    /// Whether there is an encoded brace: `%7B`.
    static func mayOpenEncoded(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        index + 2 < bytes.count && bytes[index + 1] == UInt8(ascii: "7")
            && (bytes[index + 2] | 0x20) == UInt8(ascii: "b")
    }

    /// The next block of a text without one level of backslashes; a `\u` stays, because JSON
    /// decodes it.
    static func content(of text: ArraySlice<UInt8>, from position: inout Int) -> [UInt8] {
        var output: [UInt8] = []
        let end = min(position + blockByteCount, text.endIndex)
        output.reserveCapacity(end - position)
        while position < end {
            let (byte, second) = next(in: text, &position)
            output.append(byte)
            if let second { output.append(second) }
        }
        return output
    }

    private static let blockByteCount = 4096

    /// Where in the text that many bytes of its content end.
    static func end(of count: Int, in text: ArraySlice<UInt8>) -> Int {
        var (position, left) = (text.startIndex, count)
        while left > 0, position < text.endIndex {
            left -= next(in: text, &position).second == nil ? 1 : 2
        }
        return position
    }

    // The next byte of the content, and a second one if the text has not escaped it.
    private static func next(
        in text: ArraySlice<UInt8>,
        _ position: inout Int
    ) -> (byte: UInt8, second: UInt8?) {
        let first = text[position]
        position += 1
        guard first == UInt8(ascii: "\\"), position < text.endIndex else { return (first, nil) }
        let letter = text[position]
        position += 1
        switch letter {
        case UInt8(ascii: "n"): return (0x0a, nil)
        case UInt8(ascii: "r"): return (0x0d, nil)
        case UInt8(ascii: "t"): return (0x09, nil)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "'"):
            return (letter, nil)
        case UInt8(ascii: "x"):
            guard let byte = JSON.hexadecimalByte(text, at: position) else {
                return (first, letter)
            }
            position += 2
            return (byte, nil)
        default: return (first, letter)
        }
    }

    /// The text without percent encoding.
    ///
    /// A plus is a space in a form, which encodes colons; in a text with a plain colon, a plus is a
    /// plus.
    static func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let isForm = !text.contains(UInt8(ascii: ":"))
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var position = text.startIndex
        while position < text.endIndex {
            let byte = text[position]
            position += 1
            if byte == UInt8(ascii: "%"), let escaped = JSON.hexadecimalByte(text, at: position) {
                output.append(escaped)
                position += 2
            } else {
                output.append(byte == UInt8(ascii: "+") && isForm ? 0x20 : byte)
            }
        }
        return output
    }
}
