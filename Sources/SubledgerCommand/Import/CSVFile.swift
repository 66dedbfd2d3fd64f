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

    /// The longest record, in bytes: far longer than a name, an id and a date.
    private static let recordByteCountMax = 8192

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
    private var found: [String]?

    /// The columns that a table may have.
    struct Columns {
        /// Their names, first those that it must have.
        let names: [String]
        let requiredCount: Int
        /// As many of the names make the first line a header.
        let headerCountMin: Int
        /// What is expected of a header, for its error.
        let expected: String
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
        let names = found ?? columns.names
        guard let fields = record.fields else {
            throw Row(line: record.line, values: [:]).refused(CSVFile.malformedLine)
        }
        let row = Row(
            line: record.line,
            values: Dictionary(zip(names, fields)) { first, _ in first }
        )
        guard (columns.requiredCount...names.count).contains(fields.count) else {
            throw row.refused(
                "the line has \(counted(fields.count, "field")); expected "
                    + names.joined(separator: ", ")
            )
        }
        return row
    }

    // The first line that can be read decides about the columns.
    private mutating func isHeader(_ record: CSVFile.Record) throws -> Bool {
        guard found == nil, let fields = record.fields else { return false }
        let words = fields.map { $0.lowercased().replacing(" ", with: "_") }
        guard words.count(where: columns.names.contains) >= columns.headerCountMin else {
            found = columns.names
            return false
        }
        guard words.allSatisfy(columns.names.contains), Set(words).count == words.count,
            columns.names.prefix(columns.requiredCount).allSatisfy(words.contains)
        else {
            throw Failure(
                Exit.badInput,
                "the header of \(file.place) is \(fields.joined(separator: ",")); expected "
                    + columns.expected
            )
        }
        found = words
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
