import CommandSupport
import Events
import Subledger

extension ReportDocument {
    /// The report for people.
    func printTable() {
        Terminal.print("\(name), definition \(version): \(definition)")
        Terminal.print(
            "\(environment.word), \(from) to \(to) UTC, as of \(asOf.clock); known at "
                + "\(positionWords); catalog \(catalogVersion), folds \(foldWords)"
                + (erasures > 0 ? "; erasures \(erasures)" : "")
        )
        let bars = ReportBars(self, drawnColumn)
        var table = TextTable(columns.map(\.title) + [""])
        for row in rows {
            table.add(columns.map { text(of: $0, in: row) } + [bars.bar(of: row)])
        }
        Terminal.print(rows.isEmpty ? "nothing to report" : table.text)
        if let chart = ReportChart(self), chart.isLong {
            for line in chart.sparklines { Terminal.print(line) }
        }
        if let command { Terminal.print("again: \(command)") }
    }

    /// The positions that are counted.
    var positionWords: String {
        let place = positions.sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }
        let shown = place.count == 1 && place[0].key == "0"
        return place.map { shown ? "\($0.value)" : "\($0.key):\($0.value)" }
            .joined(separator: ",")
    }

    /// The folds behind the numbers, each with its version.
    var foldWords: String {
        folds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// The report as RFC 4180 has it: a header, lines that end with CR and LF.
    var csv: String {
        let lines =
            [columns.map(\.name)]
            + rows.map { row in columns.map { field(of: $0, row[$0.jsonName] ?? .none) } }
        return lines.map { $0.map(\.quotedForCSV).joined(separator: ",") + "\r\n" }.joined()
    }

    /// What to know besides the numbers.
    var notes: [String] {
        var notes: [String] = []
        if !isComplete {
            notes.append("only the first \(rows.count) rows; --limit changes the number")
        }
        if refusedSubscriptions > 0 {
            notes.append(
                "\(counted(refusedSubscriptions, "subscription")) that a fold refused "
                    + "\(refusedSubscriptions == 1 ? "is" : "are") not counted; "
                    + "`SELECT * FROM projection.refused_stream` says why"
            )
        }
        if command == nil {
            notes.append(
                "this report cannot be repeated: its catalog, version \(catalogVersion), was "
                    + "imported after other events; with --known-at the report uses the catalog of "
                    + "that time"
            )
        }
        return notes
    }

    /// A value for people.
    func text(of column: Report.Column, in row: [String: ReportValue]) -> String {
        text(of: column, row[column.jsonName] ?? .none, in: currency(of: row))
    }

    /// A value of a column for people, money in a currency.
    func text(of column: Report.Column, _ value: ReportValue, in currency: String?) -> String {
        switch (column.kind, value) {
        case (_, .none): "–"
        case (_, .text(let text)): text
        case (.money, .integer(let amount)): Amount.text(amount, currency)
        case (.instant, .integer(let time)): Instant(milliseconds: time).clock
        case (_, .integer(let number)): "\(number)"
        case (_, .hundredths(let number)): number.decimals + " %"
        }
    }

    /// The currency of a row's money; nil where it has none.
    func currency(of row: [String: ReportValue]) -> String? {
        guard case .text(let currency) = row["currency"] else { return nil }
        return currency
    }

    private func field(of column: Report.Column, _ value: ReportValue) -> String {
        switch value {
        case .none: ""
        case .text(let text): text
        case .integer(let time) where column.kind == .instant:
            Instant(milliseconds: time).description
        case .integer(let number): "\(number)"
        case .hundredths(let number): number.decimals
        }
    }
}

extension Report.Column {
    /// Its name for people.
    var title: String {
        name.replacing("_identifier", with: "").replacing("_milliunits", with: "")
            .replacing("_percent", with: " %").replacing("_", with: " ")
    }
}

extension Int64 {
    /// Hundredths as a decimal number.
    fileprivate var decimals: String {
        let rest = "\(magnitude % 100 + 100)".dropFirst()
        return "\(self < 0 ? "-" : "")\(magnitude / 100).\(rest)"
    }
}

extension String {
    /// The field as CSV: quoted where it has to be.
    fileprivate var quotedForCSV: String {
        guard utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return self }
        return "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
