/// The rows of a report in one state after the other, with what each step changed.
struct ReportComparison {
    /// The columns that identify a row.
    let keys: [Report.Column]
    /// The other columns.
    let columns: [Report.Column]
    private let old: Cells
    private var current: Cells
    private var parts: [[ReportValue]: [[ReportChangesDocument.Part]]] = [:]

    /// The values of each row, by those that identify it.
    private struct Cells {
        private(set) var order: [[ReportValue]] = []
        private(set) var values: [[ReportValue]: [ReportValue]] = [:]

        init(_ rows: ReportRows, _ keys: [Report.Column], _ columns: [Report.Column]) {
            for row in rows.rows {
                let key = keys.map { row[$0.jsonName] ?? .none }
                order.append(key)
                values[key] = columns.map { row[$0.jsonName] ?? .none }
            }
        }
    }

    /// Begins with the rows of the earlier state.
    init(_ question: ReportQuestion, _ rows: ReportRows) {
        let keys = question.by.map(\.column) + question.report.keys.map(\.name)
        self.keys = rows.columns.filter { keys.contains($0.name) }
        columns = rows.columns.filter { !keys.contains($0.name) }
        old = Cells(rows, self.keys, columns)
        current = old
    }

    /// Takes the rows after a cause was applied.
    mutating func take(_ rows: ReportRows, by cause: String) {
        let next = Cells(rows, keys, columns)
        for key in next.order + current.order.filter({ next.values[$0] == nil }) {
            let (before, after) = (current.values[key], next.values[key])
            guard before != after else { continue }
            for (index, column) in columns.enumerated() {
                let (left, right) = (before?[index] ?? .none, after?[index] ?? .none)
                // In a row that only one state has, nothing is the same as zero.
                let isAlike = before == nil || after == nil ? left.amount == right.amount : false
                guard left != right, !isAlike || column.isNote else { continue }
                let empty = [[ReportChangesDocument.Part]](repeating: [], count: columns.count)
                parts[key, default: empty][index].append(
                    ReportChangesDocument.Part(
                        cause: cause,
                        difference: column.difference(left, right),
                        value: right
                    )
                )
            }
        }
        current = next
    }

    /// The names of the causes that changed any number.
    var causes: Set<String> { Set(parts.values.joined().joined().map(\.cause)) }

    /// The rows that differ: in the order of the later state, then those that it does not have.
    var rows: [ReportChangesDocument.Row] {
        let gone = old.order.filter { current.values[$0] == nil }
        let passing = parts.keys.filter { old.values[$0] == nil && current.values[$0] == nil }
            .sorted { "\($0)" < "\($1)" }
        return (current.order + gone + passing).compactMap { key in
            parts[key].map { row(key, $0) }
        }
    }

    private func row(
        _ key: [ReportValue],
        _ parts: [[ReportChangesDocument.Part]]
    ) -> ReportChangesDocument.Row {
        let (before, after) = (old.values[key], current.values[key])
        let presence: ReportChangesDocument.Presence =
            switch (before, after) {
            case (nil, .some): .added
            case (.some, nil): .removed
            default: .both
            }
        return ReportChangesDocument.Row(
            key: Dictionary(uniqueKeysWithValues: zip(keys.map(\.jsonName), key)),
            presence: presence,
            cells: columns.indices.filter { !parts[$0].isEmpty }.map { index in
                let (left, right) = (before?[index] ?? .none, after?[index] ?? .none)
                return ReportChangesDocument.Cell(
                    column: columns[index].jsonName,
                    old: left,
                    new: right,
                    difference: columns[index].difference(left, right),
                    parts: parts[index]
                )
            }
        )
    }
}

extension Report.Column {
    /// Whether its values are not numbers that can be subtracted.
    fileprivate var isNote: Bool { ![.count, .money, .percent].contains(kind) }

    /// What is added to one value to get another; nothing for instants and texts.
    fileprivate func difference(_ old: ReportValue, _ new: ReportValue) -> ReportValue {
        let (difference, overflow) = new.amount.subtractingReportingOverflow(old.amount)
        guard !isNote, !overflow else { return .none }
        return kind == .percent ? .hundredths(difference) : .integer(difference)
    }
}

extension ReportValue {
    /// The number; 0 for nothing.
    fileprivate var amount: Int64 {
        switch self {
        case .integer(let number), .hundredths(let number): number
        case .none, .text, .flag: 0
        }
    }
}
