internal import Events

extension ReportDocument {
    /// The report as text.
    package var text: [Block] {
        let bars = ReportBars(self)
        let cells = rows.map { row in
            shownColumns.map { text(of: $0, in: row) } + [bars.bar(of: row)]
        }
        var blocks: [Block] = [
            .line("\(name), definition \(version): \(definition)"),
            .line(
                "\(environment.word), \(from) to \(to) UTC, as of \(asOf.clock); known at "
                    + "\(positions.words); \(catalogWords), folds \(foldWords)"
                    + (erasures > 0 ? "; \(counted(erasures, "erasure"))" : "")
            ),
        ]
        blocks += (moneyWords + [installWords].compactMap { $0 }).map(Block.line)
        let header = shownColumns.map(\.title) + [""]
        blocks.append(cells.isEmpty ? .line("nothing to report") : .table(header, cells))
        blocks += (ReportChart(self)?.blocks ?? []).map(Block.line)
        if let partialWords { blocks.append(.line(partialWords)) }
        if let command { blocks.append(.line("again: \(command)")) }
        return blocks
    }

    /// The columns of the table: a mark on a row is not one of them.
    var shownColumns: [Report.Column] { columns.filter { $0.kind != .flag } }

    /// What the sign on a day, a week or a month means; nil if no row has it.
    var partialWords: String? {
        guard rows.contains(where: \.isPartial) else { return nil }
        return "* not whole: the report counts from \(from) 00:00:00 to \(asOf.clock) UTC"
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
            let tax = money.taxPercents.isEmpty ? "no tax" : "tax \(money.taxWords) %"
            let rule =
                switch commission {
                case .standard:
                    "commission 30 %, 15 % of a subscription after a year of paid service; \(tax)"
                case .smallBusiness: "commission 15 %; \(tax)"
                case .rates:
                    "commission and tax by the operator's rates of the storefront and the day of the "
                        + "purchase"
                }
            words.append("proceeds are an estimate, not Apple's numbers: \(rule)")
        }
        return words
    }

    /// Where the installs come from; nil if none were given.
    var installWords: String? {
        installs.map {
            "installs of \($0.firstDay) to \($0.lastDay) from the operator's file \($0.file); other "
                + "days have none"
        }
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
    package var csv: String {
        let lines =
            [columns.map(\.name)]
            + rows.map { row in columns.map { $0.field(row[$0.jsonName] ?? .none) } }
        return lines.csv
    }

    /// What the report leaves out.
    package var omissions: [String] {
        var omissions: [String] = []
        if !isComplete {
            omissions.append(
                "only the first \("\(rows.count)".grouped) rows; --limit changes the number"
            )
        }
        if refusedSubscriptions > 0 {
            omissions.append(refusedWords(refusedSubscriptions, "counted"))
        }
        return omissions
    }

    /// Notes on the numbers.
    package var notes: [String] {
        var notes = omissions
        if let unconverted { notes.append(unconverted) }
        if rows.contains(where: { ($0["netWithoutRateMilliunits"]?.number ?? 0) != 0 }) {
            notes.append(
                "no rate of commission and tax covers some purchases: their net is in "
                    + "net_without_rate, and they are not in proceeds_estimate; `subledger rates "
                    + "list --kind proceeds` shows what was imported"
            )
        }
        if command == nil {
            notes.append(
                "this report cannot be repeated: "
                    + (money?.usesRates != true
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

    /// A value as text, with a sign on a day, a week or a month that is not whole.
    func text(of column: Report.Column, in row: [String: ReportValue]) -> String {
        text(column, in: row) + (row.isPartial && column == ReportSpan.axis(of: columns) ? "*" : "")
    }

    /// A value as text.
    func text(_ column: Report.Column, in row: [String: ReportValue]) -> String {
        text(of: column, row[column.jsonName] ?? .none, in: currency(of: row))
    }

    /// A value of a column as text, with money in a currency.
    func text(of column: Report.Column, _ value: ReportValue, in currency: String?) -> String {
        column.text(value, in: currency)
    }

    /// The currency of a row's money; nil if it has none.
    func currency(of row: [String: ReportValue]) -> String? {
        guard case .text(let currency) = row["currency"] else { return nil }
        return currency
    }
}

/// Subscriptions that are not `counted`, or otherwise used, and where to look.
package func refusedWords(_ count: Int, _ verb: String) -> String {
    "\(counted(count, "subscription")) that a fold refused \(count == 1 ? "is" : "are") not "
        + "\(verb); `SELECT * FROM projection.refused_stream` shows why"
}

extension [String: Int64] {
    /// Positions by lane, as a bound of knowledge is written.
    package var words: String {
        let isOnly = count == 1 && keys.first == "0"
        return sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }
            .map { isOnly ? "\($0.value)" : "\($0.key):\($0.value)" }.joined(separator: ",")
    }
}

extension [String: ReportValue] {
    /// Whether the row's day, week or month is not whole.
    var isPartial: Bool { self[Report.Column.isPartial.jsonName] == .flag(true) }
}

extension Report.Column {
    /// Its name as text.
    var title: String {
        name.replacing("_identifier", with: "").replacing("_milliunits", with: "")
            .replacing("_percent", with: " %").replacing("_", with: " ")
    }

    /// A value as text, with money in a currency.
    func text(_ value: ReportValue, in currency: String?) -> String {
        switch (kind, value) {
        case (_, .none): "–"
        case (_, .text(let text)): text
        case (.money, .integer(let amount)): Amount.text(amount, currency).grouped
        case (.instant, .integer(let time)): Instant(milliseconds: time).clock
        case (_, .integer(let number)): "\(number)".grouped
        case (_, .hundredths(let number)): number.decimals.grouped + " %"
        case (_, .flag(let isSo)): "\(isSo)"
        }
    }

    /// A value as a field of CSV.
    func field(_ value: ReportValue) -> String {
        switch value {
        case .none: ""
        case .text(let text): text
        case .integer(let time) where kind == .instant: Instant(milliseconds: time).description
        case .integer(let number): "\(number)"
        case .hundredths(let number): number.decimals
        case .flag(let isSo): "\(isSo)"
        }
    }
}

extension [[String]] {
    /// The lines as CSV (RFC 4180).
    package var csv: String {
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
