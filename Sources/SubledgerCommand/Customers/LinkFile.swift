import CommandSupport
import Events
import Foundation
import Subledger

/// Reads a list of links: the columns customer, id and from, in this order or as named by a header;
/// `-` is stdin.
struct LinkFile {
    private var file: CSVFile
    private var columns: [String]?

    private static let names = ["customer", "id", "from"]

    init(_ path: String) throws {
        file = try CSVFile(path)
    }

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<LinkLine, RefusedLine>]? {
        try file.next()?.compactMap { try line(of: $0) }
    }

    // Nil for the header.
    private mutating func line(
        of record: CSVParser.Record
    ) throws -> Result<LinkLine, RefusedLine>? {
        func refused(_ message: String) -> Result<LinkLine, RefusedLine> {
            .failure(RefusedLine(line: record.line, reason: "malformed-line", message: message))
        }
        guard let fields = record.fields?.map({ $0.trimmingCharacters(in: .whitespaces) }) else {
            return refused(CSVFile.malformedLine)
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

    // Nil if the first line is data.
    private func header(_ fields: [String]) throws -> [String]? {
        let words = fields.map { $0.lowercased() }
        guard words.contains("customer"), words.contains(where: { $0 == "id" || $0 == "from" })
        else { return nil }
        guard words.allSatisfy(LinkFile.names.contains), Set(words).count == words.count,
            words.contains("id")
        else {
            throw Failure(
                Exit.badInput,
                "the header of \(file.place) is \(fields.joined(separator: ",")); expected customer, "
                    + "id and, optionally, from"
            )
        }
        return words
    }
}
