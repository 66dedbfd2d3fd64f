import CommandSupport
import Foundation
import Subledger
import SubledgerAppStore

/// Reads ids by which Apple finds customers: one on each line, or the columns of a CSV file that
/// its header names; `-` is stdin.
struct ImportIDFile {
    /// The ids without duplicates, in the order of the file.
    private(set) var subjects: [HistoryImport.Subject] = []
    /// The number of lines, without the header and empty ones.
    private(set) var lines = 0
    /// The first lines without a usable id.
    private(set) var refusedLines: [RefusedLine] = []
    /// The number of lines without a usable id.
    private(set) var refused = 0

    /// A line without a usable id.
    struct RefusedLine: Encodable {
        /// From 1.
        let line: Int
        let message: String
    }

    /// The most refused lines that are listed; all are counted.
    private static let refusedLinesMax = 20
    /// The longest transaction id, in bytes: Apple's have at most twenty digits.
    private static let idByteCountMax = 32

    /// The message for app account tokens, as a column and as a line.
    private static let tokenWords =
        "Apple finds nothing by app account token; expected originalTransactionId, transactionId, "
        + "appTransactionId or orderId"

    /// A column by its name; the first with a value counts.
    private enum Column: String, CaseIterable {
        case originalTransactionId, transactionId, appTransactionId, orderId, appAccountToken

        /// The column with a name, in any spelling: `original_transaction_id`, `Order ID`; vendors
        /// call Apple's ids those of the store.
        init?(named name: String) {
            let plain = CSVTable.plain(name).replacing("store", with: "")
            let found = Column.allCases.first { $0.rawValue.lowercased() == plain }
            guard let found else { return nil }
            self = found
        }
    }

    private enum Header {
        case unread
        case none
        case columns([Column?])
        /// Only the column at that index, of ids of any kind.
        case chosen(Int)
    }

    /// Which columns of the header are used, and how many are left out; nil without a header.
    private(set) var use: String?
    // The column with the ids, as the header spells it; nil to find it by its name.
    private let chosen: String?

    /// Reads a file to its end.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - chosen: The column with the ids, as the header spells it; nil to find it by its name.
    /// - Throws: `Failure` if the file is missing or its header has no ids.
    init(_ path: String, column chosen: String? = nil) throws {
        self.chosen = chosen
        var file = try CSVFile(path)
        var header = Header.unread
        var seen: Set<HistoryImport.Subject> = []
        while let records = try file.next() {
            for record in records {
                guard let subject = try subject(in: record, &header, file.place) else { continue }
                guard seen.insert(subject).inserted else { continue }
                guard subjects.count < HistoryImport.subjectsMax else {
                    throw Failure(
                        Exit.badInput,
                        "\(file.place) has more than \(HistoryImport.subjectsMax) ids; split it"
                    )
                }
                subjects.append(subject)
            }
        }
    }

    // Nil for the header, and for a refused line.
    private mutating func subject(
        in record: CSVFile.Record,
        _ header: inout Header,
        _ place: String
    ) throws -> HistoryImport.Subject? {
        let fields = record.fields
        if case .unread = header {
            let names = fields ?? []
            if let chosen {
                header = .chosen(try ImportIDFile.place(of: chosen, in: names, place))
                use = "column used: \(chosen); left out: \(names.count - 1)"
                return nil
            }
            let columns = names.map(Column.init(named:))
            header = columns.contains { $0 != nil } ? .columns(columns) : .none
            if case .columns = header {
                try ImportIDFile.check(columns, place)
                let used = zip(names, columns)
                    .filter { $1 != nil && $1 != .appAccountToken }.map(\.0)
                use =
                    "columns used: \(used.joined(separator: ", ")); left out: "
                    + "\(names.count - used.count)"
                return nil
            }
        }
        lines += 1
        guard let fields else { return refuse(record.line, CSVFile.malformedLine) }
        if case .chosen(let index) = header {
            guard index < fields.count, !fields[index].isEmpty else {
                return refuse(record.line, "the line has no id")
            }
            return subject(fields[index], nil, record.line)
        }
        guard case .columns(let columns) = header else {
            guard fields.count == 1 else {
                return refuse(
                    record.line,
                    "the line has \(counted(fields.count, "field")), and no header names them"
                )
            }
            return subject(fields[0], nil, record.line)
        }
        for column in Column.allCases where column != .appAccountToken {
            for (name, value) in zip(columns, fields) where name == column && !value.isEmpty {
                return subject(value, column, record.line)
            }
        }
        return refuse(record.line, "the line has no id")
    }

    private static func place(
        of chosen: String,
        in names: [String],
        _ place: String
    ) throws -> Int {
        let plain = chosen.lowercased()
        guard let index = names.firstIndex(where: { $0.lowercased() == plain }) else {
            throw Failure(
                Exit.badInput,
                "the header of \(place) has no column \(chosen); it has "
                    + names.joined(separator: ", ")
            )
        }
        return index
    }

    private static func check(_ columns: [Column?], _ place: String) throws {
        let named = columns.compactMap(\.self)
        guard named.contains(where: { $0 != .appAccountToken }) else {
            throw Failure(Exit.badInput, "\(place): \(tokenWords)")
        }
    }

    private mutating func subject(
        _ value: String,
        _ column: Column?,
        _ line: Int
    ) -> HistoryImport.Subject? {
        let bytes = Array(value.utf8)
        let isShort = (1...ImportIDFile.idByteCountMax).contains(bytes.count)
        let isNumber = isShort && bytes.allSatisfy { 0x30...0x39 ~= $0 }
        switch column {
        case nil where isNumber: return .transaction(value)
        case .orderId?, nil: if let order = OrderID(value) { return .order(order) }
        case _?: if isNumber { return .transaction(value) }
        }
        if UUID(uuidString: value) != nil { return refuse(line, ImportIDFile.tokenWords) }
        let expected = column.map { "\($0.rawValue)" } ?? "a transaction id or an order id"
        return refuse(line, "'\(value.prefix(64))' is not an id; expected \(expected)")
    }

    private mutating func refuse(_ line: Int, _ message: String) -> HistoryImport.Subject? {
        refused += 1
        if refusedLines.count < ImportIDFile.refusedLinesMax {
            refusedLines.append(RefusedLine(line: line, message: message))
        }
        return nil
    }
}
