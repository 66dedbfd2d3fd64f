internal import Events

/// The rows of a report, with the days, weeks and months that they are about.
struct ReportRows {
    private(set) var rows: [[String: ReportValue]]
    private(set) var columns: [Report.Column]
    let span: ReportSpan

    init(_ rows: [[String: ReportValue]], columns: [Report.Column], span: ReportSpan) {
        self.rows = rows
        self.columns = columns
        self.span = span
    }

    /// The rows with a mark on those whose day, week or month is not whole; the same if they have
    /// none.
    var marked: ReportRows {
        guard ReportSpan.axis(of: columns) != nil else { return self }
        var marked = self
        marked.columns.append(.isPartial)
        for (index, row) in rows.enumerated() {
            marked.rows[index][Report.Column.isPartial.jsonName] = .flag(span.isPartial(row))
        }
        return marked
    }

    /// The rows with one of zeros for each month, week, or end of a month, without any.
    ///
    /// - Parameter limit: The most rows that it may have; the same rows if there would be more.
    /// - Returns: The rows, for each currency and the like that some row has.
    func filled(to limit: Int) -> ReportRows {
        guard let axis = ReportSpan.axis(of: columns) else { return self }
        let keys = columns.filter { ($0.isLabel || $0.name == "month_number") && $0 != axis }
        var groups: [[ReportValue]: Set<ReportValue>] = [:]
        for row in rows {
            let group = keys.map { row[$0.jsonName] ?? .none }
            groups[group, default: []].insert(row[axis.jsonName] ?? .none)
        }
        var filled = self
        for (group, found) in groups {
            let key = Dictionary(uniqueKeysWithValues: zip(keys.map(\.jsonName), group))
            for place in places(axis, key) where !found.contains(place) {
                guard filled.rows.count < limit else { return self }
                var row = key
                row[axis.jsonName] = place
                for column in columns where row[column.jsonName] == nil {
                    let isNumber =
                        (column.kind == .count || column.kind == .money) && column != .installs
                    row[column.jsonName] = isNumber ? .integer(0) : ReportValue.none
                }
                filled.rows.append(row)
            }
        }
        let order = columns.filter { $0 == axis || keys.contains($0) }.map(\.jsonName)
        filled.rows.sort { left, right in
            for name in order {
                let (first, second) = (left[name] ?? .none, right[name] ?? .none)
                if first != second { return first.isBefore(second) }
            }
            return false
        }
        return filled
    }

    private func places(_ axis: Report.Column, _ key: [String: ReportValue]) -> [ReportValue] {
        switch axis.name {
        case "month": return span.months
        case "week": return span.weeks
        case "fiscal_month": return span.fiscalMonths
        case "day": return span.monthEnds
        default:
            let numbers = (0..<span.months.count).map { ReportValue.integer(Int64($0)) }
            return numbers.filter { place in
                span.hasCome(key.merging([axis.jsonName: place]) { $1 })
            }
        }
    }
}

extension Report {
    /// Whether a breakdown has a row for every month, week, or end of a month: not one by products or
    /// customers, of which most have nothing in most months.
    func hasEveryMonth(by dimensions: [Dimension]) -> Bool {
        let plain = ["currency", "billing_issue", "invitation_management", "day", "month_number"]
        return dimensions.allSatisfy(\.isTime)
            && keys.allSatisfy { plain.contains($0.name) }
    }
}
