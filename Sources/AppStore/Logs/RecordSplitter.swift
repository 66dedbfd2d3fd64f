internal import Events

/// Splits a table into records: lines, except for line breaks inside quotes.
///
/// If the quotes of a record are wrong or never closed, only its first line is given up, and the
/// next line begins a new record: one damaged row does not take the others with it.
package struct RecordSplitter: Sendable {
    /// A record without its line break, or why its line is not one; with the number of its first
    /// line.
    package struct Record: Sendable {
        package let line: Int
        package let content: Result<[UInt8], Rejection>
    }

    private enum Place {
        case cellStart, plain, quoted, quoteInQuoted
        // Up to the end of the line, which is refused together with the lines before it.
        case refused(Rejection, lineCount: Int)
    }

    let delimiter: UInt8
    private let byteCountMax: Int
    private var place = Place.cellStart
    private var record: [UInt8] = []
    private var firstLine = 1
    private var records: [Record] = []
    // Bytes of the records that ended, the furthest byte seen, and bytes that were scanned again.
    private var ended = 0
    private var furthest = 0
    private var repeated = 0

    /// How many bytes may be scanned again where quotes are wrong, as a multiple of the input, and
    /// the minimum: beyond that, lines are not tried one by one.
    private static let repetitions = (factor: 8, byteCountMin: 1 << 16)

    /// A splitter at the beginning of a table.
    ///
    /// - Parameters:
    ///   - delimiter: The byte between two cells.
    ///   - byteCountMax: The longest record, in bytes.
    package init(delimiter: UInt8, byteCountMax: Int = AppStoreVerifier.payloadByteCountMax) {
        self.delimiter = delimiter
        self.byteCountMax = byteCountMax
    }

    /// Whether the last record so far ends inside quotes.
    var isInQuotes: Bool { if case .quoted = place { true } else { false } }

    /// Takes the next bytes and returns the records that are now complete.
    package mutating func append(_ bytes: ArraySlice<UInt8>) -> [Record] {
        take(bytes)
        return drained()
    }

    /// Returns the remaining records.
    package mutating func finish() -> [Record] {
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

    // Takes the bytes up to the next that may change the place, and returns their number.
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

    // Handles the byte at which a run ended; returns bytes that must be scanned again.
    private mutating func takeSpecial(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        if !isRefused, record.count > byteCountMax {
            return giveUp(
                Rejection(
                    .payloadTooLarge,
                    "The table's row has more than \(byteCountMax) bytes, or"
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

    // Refuses the record's first line; returns the lines after it.
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
    /// Rows whose quotes are wrong again and again.
    fileprivate static func tangled(line: Int, count: Int) -> Rejection {
        Rejection(
            .unsupportedFormat,
            "Lines \(line) to \(line + count - 1): the quotes of the table's rows do not match, so"
                + " the rows cannot be separated. A quote inside quotes is written twice (RFC"
                + " 4180). The lines after them were read."
        )
    }

    /// The same rejection with the line that it is about.
    func at(line: Int) -> Rejection {
        Rejection(code, "Line \(line): \(message) The lines after it were read.")
    }
}
