import CommandSupport
import EventLog
import Events
import Subledger

/// Reads installs by day: the columns date, installs and, if needed, country, in this order or as
/// named by a header; `-` is stdin.
enum InstallFile {
    private static let columns = CSVTable.Columns(
        names: ["date", "installs", "country"],
        requiredCount: 2,
        headerCountMin: 1,
        expected: "date,installs[,country]",
        synonyms: ["installs": ["firsttimedownloads"]],
        leavesOthersOut: true
    )

    /// The most refused lines that are listed.
    private static let refusedMax = 20

    /// The installs of a file.
    ///
    /// - Throws: `Failure` if there is no such file, or if any line of it is refused: a sum without
    ///   that line would be wrong.
    static func installs(_ path: String) throws -> ReportInstalls {
        var table = try CSVTable(path, columns)
        var installs = ReportInstalls(file: path)
        var (lines, refused) = (0, [RefusedLine]())
        while let rows = try table.next({ row throws(RefusedLine) in try installs.take(row) }) {
            lines += rows.count
            guard lines <= ReportInstalls.linesMax else {
                throw Failure(
                    Exit.badInput,
                    "\(path) has more than \(ReportInstalls.linesMax) lines of installs; leave out "
                        + "days that the report does not need"
                )
            }
            for case .failure(let refusal) in rows { refused.append(refusal) }
        }
        guard refused.isEmpty, lines > 0 else {
            let listed = Array(refused.prefix(refusedMax))
            CSVTable.printRefused(listed, of: refused.count, in: path)
            throw Failure(
                Exit.badInput,
                lines == 0
                    ? "\(path) has no installs; expected lines of \(columns.expected)"
                    : "\(counted(refused.count, "line")) of \(path) cannot be read; correct or "
                        + "remove what is listed"
            )
        }
        return installs
    }
}

extension ReportInstalls {
    fileprivate mutating func take(_ row: CSVTable.Row) throws(RefusedLine) {
        let (day, number, country) = (row["date"], row["installs"], row["country"])
        guard day.utf8.count == 10, Instant(day)?.description.hasPrefix(day) ?? false else {
            throw row.invalid(day: day)
        }
        guard number.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int64(number),
            count <= ReportInstalls.countMax
        else {
            throw row.refused(
                "invalid installs '\(number)': expected a whole number from 0 to "
                    + "\(ReportInstalls.countMax), such as 120"
            )
        }
        guard country.isEmpty || CurrencyRate.isCode(country) else {
            throw row.refused(
                "invalid country '\(country)': expected three capital letters (ISO 3166-1), as in DEU"
            )
        }
        guard hasCountries ?? !country.isEmpty == !country.isEmpty else {
            throw row.refused(
                "the line has \(country.isEmpty ? "no" : "a") country, unlike those before it: "
                    + "installs of all countries would count twice"
            )
        }
        add(count, on: day, in: country)
    }
}
