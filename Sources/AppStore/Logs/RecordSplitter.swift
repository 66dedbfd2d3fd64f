internal import Events

/// Takes a table apart into records: lines, but for the line breaks inside of quotes.
///
/// A record whose quotes are wrong, or never closed, is given up with its first line, and the next
/// line begins a record: one damaged row does not take the others with it.
struct RecordSplitter: Sendable {
    /// A record without its line break, or why its line is none; with the number of its first line.
    struct Record: Sendable {
        let line: Int
        let content: Result<[UInt8], Rejection>
    }

    private enum Place {
        case cellStart, plain, quoted, quoteInQuoted
        // To the end of the line, which is refused with the lines before it.
        case refused(Rejection, lineCount: Int)
    }

    let delimiter: UInt8
    private var place = Place.cellStart
    private var record: [UInt8] = []
    private var firstLine = 1
    private var records: [Record] = []
    // Bytes of the records that ended, the furthest byte seen, and bytes looked at once more.
    private var ended = 0
    private var furthest = 0
    private var repeated = 0

    /// Bytes that are looked at once more where quotes are wrong, as a multiple of the input, and
    /// at least: beyond that, lines are not tried one by one.
    private static let repetitions = (factor: 8, byteCountMin: 1 << 16)

    /// Longest record, in bytes.
    static let recordByteCountMax = AppStoreVerifier.payloadByteCountMax

    /// A splitter at the beginning of a table.
    init(delimiter: UInt8) { self.delimiter = delimiter }

    /// Whether the last record so far ends inside of quotes.
    var isInQuotes: Bool { if case .quoted = place { true } else { false } }

    /// Takes the next bytes and gives the records that are complete now.
    mutating func append(_ bytes: ArraySlice<UInt8>) -> [Record] {
        take(bytes)
        return drained()
    }

    /// Gives what is left.
    mutating func finish() -> [Record] {
        while isInQuotes, !record.isEmpty {
            guard let again = giveUp(RecordSplitter.unclosed) else { break }
            take(again[...])
        }
        if !record.isEmpty || isRefused { end() }
        return drained()
    }

    private var isRefused: Bool { if case .refused = place { true } else { false } }

    private mutating func drained() -> [Record] {
        defer { records.removeAll() }
        return records
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        var waiting = [bytes]
        while let bytes = waiting.popLast() {
            var rest = bytes
            while !rest.isEmpty {
                let count = takeRun(of: rest)
                rest = rest.dropFirst(count)
                if let again = takeSpecial(&rest) {
                    waiting.append(rest)
                    rest = again[...]
                }
            }
        }
    }

    // Bytes up to the next that may change the place.
    private mutating func takeRun(of bytes: ArraySlice<UInt8>) -> Int {
        let (newline, quote) = (UInt8(ascii: "\n"), UInt8(ascii: "\""))
        let end: Int?
        switch place {
        case .quoted:
            end = bytes.withUnsafeBytes { ByteScan.firstIndex(of: quote, in: $0) }
        case .plain:
            end = bytes.withUnsafeBytes {
                ByteScan.firstIndex(of: newline, or: delimiter, in: $0)
            }
        case .refused:
            end = bytes.withUnsafeBytes { ByteScan.firstIndex(of: newline, in: $0) }
        case .cellStart, .quoteInQuoted: end = 0
        }
        let count = end ?? bytes.count
        if !isRefused { record += bytes.prefix(count) }
        return count
    }

    // The byte at which a run ended; gives bytes that must be looked at once more.
    private mutating func takeSpecial(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        if !isRefused, record.count > RecordSplitter.recordByteCountMax {
            return giveUp(
                Rejection(
                    .payloadTooLarge,
                    "The table's row has more than \(RecordSplitter.recordByteCountMax) bytes, or"
                        + " a quote in it is never closed."
                )
            )
        }
        guard let byte = rest.popFirst() else { return nil }
        if byte == UInt8(ascii: "\n"), !isInQuotes {
            end()
            return nil
        }
        if case .refused = place { return nil }
        record.append(byte)
        switch (place, byte) {
        case (.cellStart, UInt8(ascii: "\"")): place = .quoted
        case (.quoted, _): place = .quoteInQuoted
        case (.quoteInQuoted, UInt8(ascii: "\"")): place = .quoted
        case (_, delimiter): place = .cellStart
        case (.quoteInQuoted, UInt8(ascii: "\r")): break
        case (.quoteInQuoted, _): return giveUp(RecordSplitter.misquoted)
        default: place = .plain
        }
        return nil
    }

    // Refuses the record's first line; gives the lines behind it.
    private mutating func giveUp(_ reason: Rejection) -> [UInt8]? {
        furthest = max(furthest, ended + record.count)
        guard let lineEnd = record.firstIndex(of: UInt8(ascii: "\n")) else {
            place = .refused(reason.at(line: firstLine), lineCount: 1)
            record = []
            return nil
        }
        let again = Array(record[(lineEnd + 1)...])
        repeated += again.count
        let (factor, byteCountMin) = RecordSplitter.repetitions
        guard repeated <= factor * furthest + byteCountMin else {
            let lineCount = 1 + record.count { $0 == UInt8(ascii: "\n") }
            place = .refused(.tangled(line: firstLine, count: lineCount), lineCount: lineCount)
            record = []
            return nil
        }
        ended += lineEnd + 1
        records.append(Record(line: firstLine, content: .failure(reason.at(line: firstLine))))
        firstLine += 1
        (record, place) = ([], .cellStart)
        return again
    }

    private mutating func end() {
        let line = firstLine
        defer { (record, place) = ([], .cellStart) }
        if case .refused(let reason, let lineCount) = place {
            firstLine += lineCount
            records.append(Record(line: line, content: .failure(reason)))
            return
        }
        firstLine += 1
        ended += record.count + 1
        if record.last == UInt8(ascii: "\r") { record.removeLast() }
        guard !record.isEmpty else { return }
        firstLine += record.count { $0 == UInt8(ascii: "\n") }
        records.append(Record(line: line, content: .success(record)))
    }

    private static let unclosed = Rejection(
        .unsupportedFormat,
        "The table's row has a quote that is never closed."
    )

    private static let misquoted = Rejection(
        .unsupportedFormat,
        "The table's row has text after a closing quote; a quote inside quotes is written twice"
            + " (RFC 4180)."
    )
}

extension Rejection {
    /// Rows whose quotes are wrong, over and over.
    fileprivate static func tangled(line: Int, count: Int) -> Rejection {
        Rejection(
            .unsupportedFormat,
            "Lines \(line) to \(line + count - 1): the quotes of the table's rows do not match, so"
                + " the rows cannot be separated. A quote inside quotes is written twice (RFC"
                + " 4180). The lines after them were read."
        )
    }

    /// The same with the line that it is about.
    func at(line: Int) -> Rejection {
        Rejection(code, "Line \(line): \(message) The lines after it were read.")
    }
}
