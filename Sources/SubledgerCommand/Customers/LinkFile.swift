import CommandSupport
import Events
import Foundation
import Subledger

/// Reads a list of links: the columns customer, id and from, in this order or as a header names
/// them; `-` is stdin.
struct LinkFile {
    private let place: String
    private let handle: FileHandle
    private var parser = CSVParser()
    private var columns: [String]?
    private var isAtEnd = false

    /// Bytes that are read at once.
    private static let chunkByteCount = 1 << 16

    private static let names = ["customer", "id", "from"]

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

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<LinkLine, RefusedLine>]? {
        guard !isAtEnd, !Interrupt.isRequested else { return nil }
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try handle.read(upToCount: LinkFile.chunkByteCount) ?? Data())
        } catch {
            throw Failure(
                Exit.inputMissing,
                "the list \(place) cannot be read: \(error.localizedDescription)"
            )
        }
        isAtEnd = bytes.isEmpty
        let records = isAtEnd ? [parser.finish()].compactMap { $0 } : parser.append(bytes)
        return try records.compactMap { try line(of: $0) }
    }

    // Nil for the header.
    private mutating func line(
        of record: CSVParser.Record
    ) throws -> Result<LinkLine, RefusedLine>? {
        func refused(_ message: String) -> Result<LinkLine, RefusedLine> {
            .failure(RefusedLine(line: record.line, reason: "malformed-line", message: message))
        }
        guard let fields = record.fields?.map({ $0.trimmingCharacters(in: .whitespaces) }) else {
            return refused(
                "the line is not comma-separated text in UTF-8 (RFC 4180) of at most "
                    + "\(CSVParser.recordByteCountMax) bytes"
            )
        }
        guard let columns else {
            let header = try header(fields)
            columns = header ?? LinkFile.names
            return header == nil ? try line(of: record) : nil
        }
        guard (2...columns.count).contains(fields.count) || fields.count == columns.count else {
            return refused(
                "the line has \(counted(fields.count, "field")); expected "
                    + columns.joined(separator: ", ")
            )
        }
        let values = Dictionary(zip(columns, fields)) { first, _ in first }
        let (customer, id, from) = (values["customer"] ?? "", values["id"] ?? "", values["from"])
        guard !customer.isEmpty, !id.isEmpty else {
            return refused("the line lacks the \(customer.isEmpty ? "customer" : "id")")
        }
        guard let from, !from.isEmpty else {
            return .success(
                LinkLine(
                    number: record.line,
                    customer: customer,
                    originalTransactionId: id,
                    from: nil
                )
            )
        }
        guard let instant = Int64(from).map(Instant.init(milliseconds:)) ?? Instant(from) else {
            return refused(
                "invalid time '\(from)': expected 2025-03-03, 2025-03-03T10:00Z or milliseconds"
            )
        }
        return .success(
            LinkLine(
                number: record.line,
                customer: customer,
                originalTransactionId: id,
                from: instant
            )
        )
    }

    // Nil where the first line is one of data.
    private func header(_ fields: [String]) throws -> [String]? {
        let words = fields.map { $0.lowercased() }
        guard words.contains("customer"), words.contains(where: { $0 == "id" || $0 == "from" })
        else { return nil }
        guard words.allSatisfy(LinkFile.names.contains), Set(words).count == words.count,
            words.contains("id")
        else {
            throw Failure(
                Exit.badInput,
                "the header of \(place) is \(fields.joined(separator: ",")); expected customer, "
                    + "id and, optionally, from"
            )
        }
        return words
    }
}
