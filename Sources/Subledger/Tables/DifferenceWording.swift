internal import Events
package import Projections

/// A value of a table's column as text and in JSON.
package struct ColumnWording {
    /// The column's name in the table.
    package let column: String

    package init(column: String) { self.column = column }

    /// The name in JSON: `purchase_date_ms` becomes `purchaseDate`, and `product_identifier`
    /// becomes Apple's `productId`, as in all documents.
    package var camelCase: String {
        var words = column.replacing("product_identifier", with: "product_id")
            .split(separator: "_")
        if words.count > 1, words.last == "ms" { words.removeLast() }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return ([words.first.map(String.init) ?? column] + rest).joined()
    }

    /// The name as text.
    package var name: String {
        for unit in ["_ms", "_milliunits"] where column.hasSuffix(unit) {
            return String(column.dropLast(unit.count))
        }
        return column
    }

    /// A value as text: instants as dates and times, milliunits as amounts.
    package func text(_ value: ColumnValue) -> String {
        switch value {
        case .null: "–"
        case .integer(let number): text(number)
        case .int32(let number): "\(number)"
        case .boolean(let flag): flag ? "yes" : "no"
        case .text(let text): text
        case .timestamp(let instant): instant.isPlausible ? instant.clock : "\(instant)"
        case .integers(let numbers): numbers.map(String.init).joined(separator: " ")
        case .texts(let texts): texts.joined(separator: " ")
        }
    }

    private func text(_ number: Int64) -> String {
        if column.hasSuffix("_ms") {
            let instant = Instant(milliseconds: number)
            return instant.isPlausible ? instant.clock : "\(number) ms"
        }
        return column.hasSuffix("_milliunits") ? Amount.text(number, nil) : "\(number)"
    }
}

extension StreamDifference.Change {
    /// One line for each side: what changed if the row exists on both, otherwise the row; nil for
    /// a side without the row.
    package var words: (old: String?, new: String?) {
        let shown = columns.isEmpty ? table.columns : columns
        func words(_ row: ProjectionRow) -> String {
            let values = zip(table.columns, row.values).filter { column, value in
                shown.contains(column) && (value != .null || !columns.isEmpty)
            }
            let limit = columns.isEmpty ? DifferenceWording.valuesMax : values.count
            let texts = values.prefix(limit).map { column, value in
                let wording = ColumnWording(column: column)
                return "\(wording.name) \(wording.text(value))"
            }
            return texts.joined(separator: ", ") + (values.count > limit ? " …" : "")
        }
        return (old.map(words), new.map(words))
    }
}

/// Wording shared by the text and the HTML page.
package enum DifferenceWording {
    /// The most values printed for a row that is entirely new or gone; `--json` has them all.
    package static let valuesMax = 8

    /// Printed next to money of a table that does not count, because another one does.
    package static let notAdded = "; from another table, not added"

    /// Printed after samples of another policy, which no other command can explain.
    package static let adoptedPolicy =
        "The commands under `next` use the adopted policy, not the policy compared here."

    /// Money, and the table that it comes from.
    package static func money(of projection: String) -> String { "money (\(projection))" }

    /// A length of time in hours, exact to a thousandth.
    package static func hours(_ milliseconds: Int64) -> String {
        let thousandths = milliseconds / 3600
        let (whole, rest) = thousandths.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest + 1000).dropFirst()
        return "\(whole)" + (rest == 0 ? "" : ".\(digits)") + " h"
    }

    /// A length of time in readable units.
    package static func length(_ milliseconds: Int64) -> String {
        milliseconds < 1000 ? "\(milliseconds) ms" : Duration.words(milliseconds / 1000)
    }

    /// Printed instead of changes if rows of only one side could be read.
    package static let uncompared = "not compared"

    /// `1 → 2`, or one number if both are the same.
    package static func versions(_ table: ComparedTable) -> String {
        guard let old = table.oldVersion else { return "new, \(table.newVersion)" }
        return old == table.newVersion ? "\(old)" : "\(old) → \(table.newVersion)"
    }
}
