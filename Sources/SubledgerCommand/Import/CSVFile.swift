import AppStore
import CommandSupport
import Foundation
import Subledger

/// Reads comma-separated text as a stream; `-` is stdin.
struct CSVFile {
    /// The file's name, for messages.
    let place: String
    private let handle: FileHandle
    private var splitter = RecordSplitter(
        delimiter: CSVFile.comma,
        byteCountMax: CSVFile.recordByteCountMax
    )
    private var isAtStart = true
    private var isAtEnd = false

    /// A record: one line, or several if a quoted field contains line breaks.
    struct Record {
        /// The line on which it begins, from 1.
        let line: Int
        /// Its fields without white space around them; nil if it is malformed.
        let fields: [String]?
    }

    private static let comma = UInt8(ascii: ",")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Bytes that are read at once.
    private static let chunkByteCount = 1 << 16

    /// The longest record, in bytes: an export may have a receipt beside the ids.
    private static let recordByteCountMax = 16 << 20

    /// The error for a record that cannot be parsed.
    static let malformedLine =
        "the line is not comma-separated text in UTF-8 (RFC 4180) of at most "
        + "\(recordByteCountMax) bytes"

    init(_ path: String) throws {
        place = path == "-" ? "stdin" : path
        do {
            handle =
                path == "-"
                ? FileHandle.standardInput
                : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw Failure(
                Exit.inputMissing,
                isThere
                    ? "the list \(path) cannot be read: it is a folder, or its permissions do not "
                        + "allow it"
                    : "there is no file \(path)"
            )
        }
    }

    /// The next records; nil at the end, and after the user asked to stop.
    mutating func next() throws -> [Record]? {
        guard !isAtEnd, !Interrupt.isRequested else { return nil }
        var bytes: ArraySlice<UInt8>
        do {
            bytes = [UInt8](try handle.read(upToCount: CSVFile.chunkByteCount) ?? Data())[...]
        } catch {
            throw Failure(
                Exit.inputMissing,
                "the list \(place) cannot be read: \(error.localizedDescription)"
            )
        }
        isAtEnd = bytes.isEmpty
        if isAtStart, bytes.starts(with: CSVFile.byteOrderMark) { bytes = bytes.dropFirst(3) }
        isAtStart = false
        let records = isAtEnd ? splitter.finish() : splitter.append(bytes)
        return records.map { Record(line: $0.line, fields: CSVFile.fields($0.content)) }
    }

    private static func fields(_ record: Result<[UInt8], Rejection>) -> [String]? {
        guard case .success(let bytes) = record else { return nil }
        let cells = QuotedCell.cells(of: bytes[...], delimiter: comma)
        let fields = cells.compactMap { cell -> String? in
            guard cell.isQuoted || !cell.content.contains(UInt8(ascii: "\"")) else { return nil }
            return String(validating: cell.content, as: UTF8.self)?
                .trimmingCharacters(in: .whitespaces)
        }
        return fields.count == cells.count ? fields : nil
    }
}

/// Comma-separated rows of named columns: in this order, or as a header names them.
struct CSVTable {
    private var file: CSVFile
    private let columns: Columns
    // The names of the columns in their order; nil for one that is left out.
    private var found: [String?]?
    /// Which columns are used, and how many are left out; nil until a header was read that has
    /// other names or further columns.
    private(set) var use: String?

    /// The columns that a table may have.
    struct Columns {
        /// Their names, first those that it must have.
        let names: [String]
        let requiredCount: Int
        /// As many of the names make the first line a header.
        let headerCountMin: Int
        /// What is expected of a header, for its error.
        let expected: String
        /// Other names of columns, as exports spell them, in lower case and without marks.
        var synonyms: [String: Set<String>] = [:]
        /// Whether a header may have further columns, which are left out.
        var leavesOthersOut = false
        /// The column that was chosen for a name, as the header spells it.
        var chosen: [String: String] = [:]

        // The name of the column with this header; nil for one that is left out.
        fileprivate func name(of header: String) -> String? {
            if let chosen = chosen.first(where: { CSVTable.isSame($0.value, header) }) {
                return chosen.key
            }
            return names.first { name in
                chosen[name] == nil
                    && (CSVTable.isSame(name, header)
                        || synonyms[name, default: []].contains(CSVTable.plain(header)))
            }
        }
    }

    // `original_transaction_id`, `Original Transaction ID` and `originalTransactionId` are one name.
    static func plain(_ header: String) -> String {
        header.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    fileprivate static func isSame(_ left: String, _ right: String) -> Bool {
        plain(left).utf8.elementsEqual(plain(right).utf8)
    }

    /// A row.
    struct Row {
        /// The line on which it begins, from 1.
        let line: Int
        fileprivate let values: [String: String]

        /// The value of a column; empty if the row has none.
        subscript(name: String) -> String { values[name] ?? "" }

        /// The refusal of this row.
        func refused(_ message: String) -> RefusedLine {
            RefusedLine(line: line, reason: "malformed-line", message: message)
        }
    }

    init(_ path: String, _ columns: Columns) throws {
        file = try CSVFile(path)
        self.columns = columns
    }

    /// The next rows, as they are read, or why they are refused; nil at the end.
    mutating func next<Value>(
        _ read: (Row) throws(RefusedLine) -> Value
    ) throws -> [Result<Value, RefusedLine>]? {
        guard let records = try file.next() else { return nil }
        var rows: [Result<Value, RefusedLine>] = []
        for record in records where try !isHeader(record) {
            do throws(RefusedLine) {
                rows.append(.success(try read(try row(of: record))))
            } catch {
                rows.append(.failure(error))
            }
        }
        return rows
    }

    private func row(of record: CSVFile.Record) throws(RefusedLine) -> Row {
        let names = found ?? columns.names.map(Optional.some)
        guard let fields = record.fields else {
            throw Row(line: record.line, values: [:]).refused(CSVFile.malformedLine)
        }
        let row = Row(
            line: record.line,
            values: Dictionary(
                zip(names, fields).compactMap { name, field in name.map { ($0, field) } }
            ) { first, _ in first }
        )
        guard fields.count <= names.count,
            columns.names.prefix(columns.requiredCount).allSatisfy({ row.values[$0] != nil })
        else {
            throw row.refused(
                "the line has \(counted(fields.count, "field")); expected "
                    + names.map { $0 ?? "…" }.joined(separator: ", ")
            )
        }
        return row
    }

    // The first line that can be read decides about the columns.
    private mutating func isHeader(_ record: CSVFile.Record) throws -> Bool {
        guard found == nil, let fields = record.fields else { return false }
        let names = fields.map(columns.name(of:))
        let known = names.compactMap(\.self)
        guard known.count >= columns.headerCountMin || !columns.chosen.isEmpty else {
            found = columns.names
            return false
        }
        let missing = (columns.names.prefix(columns.requiredCount) + columns.chosen.keys.sorted())
            .filter { !known.contains($0) }
        let isComplete = columns.leavesOthersOut || known.count == names.count
        guard missing.isEmpty, isComplete, Set(known).count == known.count else {
            throw Failure(
                Exit.badInput,
                "the header of \(file.place) is \(fields.joined(separator: ",")); expected "
                    + columns.expected
            )
        }
        found = names
        let used = zip(fields, names).compactMap { header, name in
            name.map { CSVTable.isSame($0, header) ? header : "\(header) as \($0)" }
        }
        let rest = names.count - known.count
        if rest > 0 || used.contains(where: { $0.contains(" as ") }) {
            use =
                "columns used: \(used.joined(separator: ", "))"
                + (rest > 0 ? "; left out: \(rest)" : "")
        }
        return true
    }
}

extension CSVTable {
    /// Prints the first refused rows of a file, and how many more there are.
    static func printRefused(_ rows: [RefusedLine], of count: Int, in path: String) {
        let place = path == "-" ? "stdin" : path
        for row in rows {
            Terminal.write("refused  \(place), line \(row.line): \(row.message) [\(row.reason)]")
        }
        if count > rows.count { Terminal.write("… and \(count - rows.count) more") }
    }
}
