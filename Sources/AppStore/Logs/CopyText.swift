/// PostgreSQL's COPY in text format: cells between tabs, with backslash escapes.
enum CopyText {
    /// The cells of a line; nil for `\N`, the database's null.
    static func cells(of line: ArraySlice<UInt8>) -> [[UInt8]?] {
        line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map(content)
    }

    /// The payloads in the cells of a line that COPY has escaped; empty for any other line.
    ///
    /// COPY doubles each backslash of the data. A line with a backslash before a quote, a slash or
    /// a `u` is JSON already, and reading it as COPY would change its meaning. If both are
    /// possible, it is COPY if that yields JSON.
    static func payloads(inEscaped line: ArraySlice<UInt8>) -> [PayloadSplitter.Piece] {
        guard isEscaped(line) else { return [] }
        let found = TableReader.payloads(in: cells(of: line), column: nil)
        let areSound = found.allSatisfy { piece in
            guard case .success(let bytes) = piece else { return false }
            guard bytes.first == UInt8(ascii: "{") else { return true }
            if case .malformed = PayloadFinder.search(json: bytes) { return false }
            return true
        }
        return areSound ? found : []
    }

    private static func isEscaped(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.contains(UInt8(ascii: "\t")) else { return false }
        var isDoubled = false
        var rest = line
        while let start = rest.firstIndex(of: UInt8(ascii: "\\")) {
            guard start + 1 < rest.endIndex else { return false }
            let letter = rest[start + 1]
            guard letter == UInt8(ascii: "\\") || "bfnrtvN".utf8.contains(letter) else {
                return false
            }
            isDoubled = isDoubled || letter == UInt8(ascii: "\\")
            rest = rest[(start + 2)...]
        }
        return isDoubled
    }

    private static func content(of cell: ArraySlice<UInt8>) -> [UInt8]? {
        if cell.elementsEqual("\\N".utf8) { return nil }
        guard cell.contains(UInt8(ascii: "\\")) else { return Array(cell) }
        var output: [UInt8] = []
        output.reserveCapacity(cell.count)
        var rest = cell
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst() else {
                output.append(byte)
                continue
            }
            switch letter {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0c)
            case UInt8(ascii: "n"): output.append(0x0a)
            case UInt8(ascii: "r"): output.append(0x0d)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "v"): output.append(0x0b)
            default: output.append(letter)
            }
        }
        return output
    }

    /// The bytes of a `bytea` in hex, `\x7b22…`; nil for any other text.
    static func hexBytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.starts(with: "\\x".utf8), text.count % 2 == 0, text.count > 2 else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 2)
        var position = text.startIndex + 2
        while position < text.endIndex {
            guard let byte = JSON.hexadecimalByte(text, at: position) else { return nil }
            output.append(byte)
            position += 2
        }
        return output
    }

    /// The columns of `COPY table (a, b) FROM stdin;`, as pg_dump writes it before the rows; nil
    /// for any other line, and empty if it names none.
    static func columns(ofStatement line: ArraySlice<UInt8>) -> [String]? {
        let line = Envelope.trimmed(line)
        guard line.count <= statementByteCountMax, line.starts(with: "COPY ".utf8) else {
            return nil
        }
        let text = String(decoding: line, as: UTF8.self)
        guard text.lowercased().hasSuffix("from stdin;") else { return nil }
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"),
            open < close
        else { return [] }
        return text[text.index(after: open)..<close].split(separator: ",").map { name in
            String(name.drop { $0 == " " || $0 == "\"" }.prefix { $0 != "\"" && $0 != " " })
        }
    }

    /// Longest statement that is read: a table has at most 1600 columns.
    private static let statementByteCountMax = 1 << 17
}
