import CommandSupport
import Events
import Subledger

extension ReportDocument {
    /// The report as text.
    func printTable() {
        Terminal.print("\(name), definition \(version): \(definition)")
        Terminal.print(
            "\(environment.word), \(from) to \(to) UTC, as of \(asOf.clock); known at "
                + "\(positionWords); \(catalogWords), folds \(foldWords)"
                + (erasures > 0 ? "; \(counted(erasures, "erasure"))" : "")
        )
        for line in moneyWords { Terminal.print(line) }
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

    /// How money was converted and estimated; empty if amounts are as Apple signed them.
    var moneyWords: [String] {
        guard let money else { return [] }
        var words: [String] = []
        if let currency = money.currency {
            words.append(
                "money in \(currency) by the operator's rates, at most "
                    + "\(counted(money.rateDaysMax, "day")) old, each amount rounded to the "
                    + "milliunit"
            )
        }
        if let commission = money.commission {
            let rule =
                commission == .standard
                ? "30 %, 15 % of a subscription after a year of paid service" : "15 %"
            let tax = money.taxPercents.isEmpty ? "no tax" : "tax \(money.taxWords) %"
            words.append(
                "proceeds are an estimate, not Apple's numbers: commission \(rule); \(tax)"
            )
        }
        return words
    }

    /// The positions that are included.
    var positionWords: String {
        let place = positions.sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }
        let shown = place.count == 1 && place[0].key == "0"
        return place.map { shown ? "\($0.value)" : "\($0.key):\($0.value)" }
            .joined(separator: ",")
    }

    /// The version of the catalog that the numbers are computed from.
    var catalogWords: String {
        catalogVersion == 0 ? "no catalog" : "catalog version \(catalogVersion)"
    }

    /// The folds that the numbers are computed from, each with its version.
    var foldWords: String {
        folds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// The report as CSV (RFC 4180): a header, and lines that end with CR and LF.
    var csv: String {
        let lines =
            [columns.map(\.name)]
            + rows.map { row in columns.map { field(of: $0, row[$0.jsonName] ?? .none) } }
        return lines.csv
    }

    /// Notes on the numbers.
    var notes: [String] {
        var notes: [String] = []
        if !isComplete {
            notes.append("only the first \(rows.count) rows; --limit changes the number")
        }
        if refusedSubscriptions > 0 {
            notes.append(
                "\(counted(refusedSubscriptions, "subscription")) that a fold refused "
                    + "\(refusedSubscriptions == 1 ? "is" : "are") not counted; "
                    + "`SELECT * FROM projection.refused_stream` shows why"
            )
        }
        if let unconverted { notes.append(unconverted) }
        if command == nil {
            notes.append(
                "this report cannot be repeated: "
                    + (money?.currency == nil
                        ? "its catalog, version \(catalogVersion), was"
                        : "its rates, or its catalog, version \(catalogVersion), were")
                    + " imported after other events; with --known-at the report uses those of that "
                    + "time"
            )
        }
        return notes
    }

    // Amounts without a rate to convert them.
    private var unconverted: String? {
        guard let currency = money?.currency else { return nil }
        let others = Set(rows.compactMap { self.currency(of: $0) }).subtracting([currency]).sorted()
        guard !others.isEmpty else { return nil }
        return "no rate to \(currency) covers some amounts in "
            + "\(others.joined(separator: ", ")): they are listed in their own currency; `subledger rates list` shows what was imported"
    }

    /// A value as text.
    func text(of column: Report.Column, in row: [String: ReportValue]) -> String {
        text(of: column, row[column.jsonName] ?? .none, in: currency(of: row))
    }

    /// A value of a column as text, with money in a currency.
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

    /// The currency of a row's money; nil if it has none.
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
    /// Its name as text.
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

extension [[String]] {
    /// The lines as CSV (RFC 4180).
    var csv: String {
        map { $0.map(\.quotedForCSV).joined(separator: ",") + "\r\n" }.joined()
    }
}

extension String {
    /// The field as CSV, quoted if necessary.
    fileprivate var quotedForCSV: String {
        guard utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return self }
        return "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
