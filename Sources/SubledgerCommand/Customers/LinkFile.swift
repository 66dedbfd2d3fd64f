import Events
import Subledger

/// Reads a list of links: the columns customer, id and from, in this order or as a header names
/// them, as apps and vendors spell them; `-` is stdin.
struct LinkFile {
    private var table: CSVTable

    private static let columns = CSVTable.Columns(
        names: ["customer", "id", "from"],
        requiredCount: 2,
        headerCountMin: 2,
        expected: "customer, id and, optionally, from; name others with --column, such as --column "
            + "customer=userId",
        synonyms: [
            "customer": ["customerid", "userid", "appuserid", "user", "accountid", "uid"],
            "id": [
                "originaltransactionid", "originalstoretransactionid", "storetransactionid",
                "transactionid",
            ],
            "from": ["since", "linkedat", "createdat"],
        ],
        leavesOthersOut: true
    )

    /// The names that `--column` can give a column.
    static let columnNames = columns.names

    /// The list at a path.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - chosen: For a column's name, the one in the header.
    /// - Throws: `Failure` if there is no such file.
    init(_ path: String, chosen: [String: String]) throws {
        var columns = LinkFile.columns
        columns.chosen = chosen
        table = try CSVTable(path, columns)
    }

    /// Which columns of the header are used; nil if they are those expected.
    var use: String? { table.use }

    /// The next lines; nil at the end.
    mutating func next() throws -> [Result<LinkLine, RefusedLine>]? {
        try table.next(LinkFile.line)
    }

    private static func line(of row: CSVTable.Row) throws(RefusedLine) -> LinkLine {
        let (customer, id, from) = (row["customer"], row["id"], row["from"])
        guard !customer.isEmpty, !id.isEmpty else {
            throw row.refused("the line lacks the \(customer.isEmpty ? "customer" : "id")")
        }
        let instant = Int64(from).map(Instant.init(milliseconds:)) ?? Instant(from)
        guard from.isEmpty || instant != nil else {
            throw row.refused(
                "invalid time '\(from)': expected 2025-03-03, 2025-03-03T10:00Z or milliseconds"
            )
        }
        return LinkLine(
            number: row.line,
            customer: customer,
            originalTransactionId: id,
            from: instant
        )
    }
}
