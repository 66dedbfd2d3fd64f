/// Parses comma-separated text as a stream (RFC 4180): quoted fields may contain commas, line
/// breaks and doubled quotes.
struct CSVParser {
    /// A record: one line, or several if a quoted field contains line breaks.
    struct Record {
        /// The line on which it begins, from 1.
        let line: Int
        /// Its fields; nil if it is malformed.
        let fields: [String]?
    }

    /// The longest record, in bytes: far longer than a name, an id and a date.
    static let recordByteCountMax = 8192

    private enum State { case start, plain, quoted, quoteInQuoted, skipped }

    private var state = State.start
    private var field: [UInt8] = []
    private var fields: [[UInt8]] = []
    private var byteCount = 0
    private var line = 1
    private var recordLine = 1
    private var isMalformed = false
    private var isFirst = true
    /// The record's bytes from its second line on: if a quote is not closed, they are records.
    private var laterLines: [UInt8] = []

    /// The records that end in these bytes.
    mutating func append(_ bytes: [UInt8]) -> [Record] {
        var bytes = bytes[...]
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        if !bytes.isEmpty { isFirst = false }
        var records: [Record] = []
        for byte in bytes { take(byte, &records) }
        return records
    }

    /// The records that no line break ended; more than one if a quote was not closed.
    mutating func finish() -> [Record] {
        var records: [Record] = []
        while case .quoted = state { refuseFirstLine(&records) }
        if let record = endRecord() { records.append(record) }
        return records
    }

    // An unclosed quote refuses only its own line.
    private mutating func refuseFirstLine(_ records: inout [Record]) {
        let first = recordLine
        isMalformed = true
        if let record = endRecord() { records.append(record) }
        readLaterLines(after: first, &records)
    }

    private mutating func readLaterLines(after first: Int, _ records: inout [Record]) {
        let bytes = laterLines
        laterLines = []
        (line, recordLine) = (first + 1, first + 1)
        for byte in bytes { take(byte, &records) }
    }

    private mutating func take(_ byte: UInt8, _ records: inout [Record]) {
        let isLater = line > recordLine
        if isLater { laterLines.append(byte) }
        if let record = take(byte) {
            records.append(record)
            if record.fields == nil, isLater {
                readLaterLines(after: record.line, &records)
            } else {
                laterLines = []
            }
        } else if isLater, byteCount > CSVParser.recordByteCountMax {
            refuseFirstLine(&records)
        }
    }

    private mutating func take(_ byte: UInt8) -> Record? {
        byteCount += 1
        if byteCount > CSVParser.recordByteCountMax, line == recordLine {
            (state, isMalformed) = (.skipped, true)
        }
        if byte == UInt8(ascii: "\n") { line += 1 }
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
        case (.quoted, _): field.append(byte)
        case (_, UInt8(ascii: "\n")): return endRecord()
        case (.skipped, _): break
        case (.start, UInt8(ascii: "\"")) where field.isEmpty: state = .quoted
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            field.append(byte)
            state = .quoted
        case (_, UInt8(ascii: ",")):
            fields.append(field)
            field = []
            state = .start
        case (_, UInt8(ascii: "\r")): break
        case (.quoteInQuoted, _), (.plain, UInt8(ascii: "\"")): isMalformed = true
        default:
            field.append(byte)
            state = .plain
        }
        return nil
    }

    private mutating func endRecord() -> Record? {
        defer {
            (state, field, fields, byteCount, isMalformed) = (.start, [], [], 0, false)
            recordLine = line
        }
        guard isMalformed || !fields.isEmpty || !field.isEmpty else { return nil }
        let all = fields + [field]
        let texts = all.compactMap { String(validating: $0, as: UTF8.self) }
        return Record(
            line: recordLine,
            fields: isMalformed || texts.count < all.count ? nil : texts
        )
    }
}
