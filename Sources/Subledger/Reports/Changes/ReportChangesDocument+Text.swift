internal import Events

extension ReportChangesDocument {
    /// The differences as text.
    package var text: [Block] {
        var blocks: [Block] = [
            .line("\(name), definition \(version): \(definition)"),
            .line("\(environment.word), \(from) to \(to) UTC"),
            .line("old: \(words(before))"), .line("new: \(words(after))"),
        ]
        if rows.isEmpty {
            blocks.append(.line("nothing differs"))
        } else {
            let header = keys.map(\.title) + ["number", "old", "new", "difference", "cause"]
            blocks.append(.table(header, rows.flatMap(lines)))
        }
        blocks += causes.map { .line(words($0)) }
        blocks.append(
            .line(
                "both states are computed with the folds of this program (\(foldWords)); "
                    + "`subledger tables diff` shows what a new version of a fold changes"
            )
        )
        if let command { blocks.append(.line("again: \(command)")) }
        return blocks
    }

    private func words(_ state: State) -> String {
        "known at \(state.positions.isEmpty ? "0" : state.positions.words), as of "
            + "\(state.asOf.clock); "
            + (state.catalogVersion == 0 ? "no catalog" : "catalog version \(state.catalogVersion)")
    }

    private var foldWords: String {
        folds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    // For each cell a line with its values and, if several causes changed it, one for each part.
    private func lines(of row: Row) -> [[String]] {
        let currency: String? =
            if case .text(let currency) = row.key["currency"] { currency } else { nil }
        let key = keys.map { $0.text(row.key[$0.jsonName] ?? .none, in: nil) }
        let names = Dictionary(uniqueKeysWithValues: columns.map { ($0.jsonName, $0) })
        return row.cells.flatMap { cell -> [[String]] in
            guard let column = names[cell.column] else { return [] }
            func text(_ value: ReportValue) -> String { column.text(value, in: currency) }
            let isSingle = cell.parts.count == 1
            let cause = isSingle ? ReportCause.words(cell.parts[0].cause) : ""
            let total = [
                column.title, text(cell.old), text(cell.new),
                column.signed(cell.difference, currency),
                [cause, row.presenceWords].filter { !$0.isEmpty }.joined(separator: " "),
            ]
            let parts = (isSingle ? [] : cell.parts).map { part in
                // What is no number is followed from value to value.
                let change =
                    part.difference == .none
                    ? "→ " + text(part.value) : column.signed(part.difference, currency)
                return ["", "", "", change, ReportCause.words(part.cause)]
            }
            return [key + total] + parts.map { key.map { _ in "" } + $0 }
        }
    }

    private func words(_ cause: Cause) -> String {
        let words = ReportCause.words(cause.cause)
        guard let count = cause.subscriptions else { return words }
        let named = cause.customers.map { customer in
            customer.customerId == customer.originalTransactionId
                ? customer.customerId : "\(customer.customerId) (\(customer.originalTransactionId))"
        }
        let rest = count > Int64(named.count) && !named.isEmpty ? ", …" : ""
        return "\(words): \(counted(count, "subscription"))"
            + (named.isEmpty ? "" : ": " + named.joined(separator: ", ") + rest)
    }

    /// The differences as CSV (RFC 4180): for each cell a line without a cause, and one for each of
    /// its parts, with the values before and after it.
    package var csv: String { [self].csv }

    /// What is left out.
    package var notes: [String] {
        var notes: [String] = []
        if !isComplete {
            notes.append("only the first \(rows.count) rows; --limit changes the number")
        }
        if refusedSubscriptions > 0 {
            notes.append(refusedWords(refusedSubscriptions, "counted"))
        }
        return notes
    }
}

extension [ReportChangesDocument] {
    /// The differences as one table of CSV, with the columns of all reports that identify rows.
    package var csv: String {
        var keys: [Report.Column] = []
        for key in flatMap(\.keys) where !keys.contains(key) { keys.append(key) }
        let header =
            ["report"] + keys.map(\.name) + ["number", "cause", "old", "new", "difference"]
        return ([header] + flatMap { document in document.fields(keys) }).csv
    }
}

extension ReportChangesDocument {
    fileprivate func fields(_ all: [Report.Column]) -> [[String]] {
        let names = Dictionary(uniqueKeysWithValues: columns.map { ($0.jsonName, $0) })
        return rows.flatMap { row in
            let key = [name] + all.map { $0.field(row.key[$0.jsonName] ?? .none) }
            return row.cells.flatMap { cell -> [[String]] in
                guard let column = names[cell.column] else { return [] }
                func line(
                    _ cause: String,
                    _ old: ReportValue,
                    _ new: ReportValue,
                    _ difference: ReportValue
                ) -> [String] {
                    key + [column.name, cause] + [old, new].map(column.field)
                        + [column.field(difference)]
                }
                var value = cell.old
                var lines = [line("", cell.old, cell.new, cell.difference)]
                for part in cell.parts {
                    lines.append(line(part.cause, value, part.value, part.difference))
                    value = part.value
                }
                return lines
            }
        }
    }
}

extension ReportChangesDocument.Row {
    /// Which state alone has the row; empty if both have it.
    fileprivate var presenceWords: String {
        switch presence {
        case .both: ""
        case .added: "(new row)"
        case .removed: "(no row any more)"
        }
    }
}

extension Report.Column {
    /// A difference as text, with its sign.
    fileprivate func signed(_ value: ReportValue, _ currency: String?) -> String {
        switch value {
        case .integer(let number), .hundredths(let number):
            (number > 0 ? "+" : "") + text(value, in: currency)
        case .none, .text, .flag: ""
        }
    }
}
