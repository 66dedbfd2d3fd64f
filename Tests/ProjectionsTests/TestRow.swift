import Events
import Projections

/// Table rows with small numbers as instants.
enum TestRow {
    static func projection(_ name: String) -> any Projection {
        guard let found = allProjections.first(where: { $0.name == name }) else {
            preconditionFailure("there is no projection \(name)")
        }
        return found
    }

    /// Tables that are the same on both sides.
    static func tables(_ names: [String]) -> [ComparedTable] {
        names.map { name in
            let projection = projection(name)
            return ComparedTable(
                name: name,
                oldVersion: projection.version,
                newVersion: projection.version,
                oldColumns: projection.columns,
                newColumns: projection.columns,
                comparison: projection.comparison
            )
        }
    }

    /// The difference of one subscription's active periods.
    static func difference(
        _ old: [ProjectionRow],
        _ new: [ProjectionRow]
    ) -> ProjectionDifference {
        var difference = ProjectionDifference(tables(["active_periods"]))
        difference.add(stream("1", old: old, new: new))
        return difference
    }

    static func stream(
        _ id: String,
        table: Int = 0,
        old: [ProjectionRow],
        new: [ProjectionRow]
    ) -> StreamRows {
        StreamRows(
            stream: StreamID(environment: .production, originalTransactionId: id),
            tables: [StreamRows.Sides(table: table, old: old, new: new)]
        )
    }

    static func period(
        _ from: Int64,
        to: Int64,
        product: String = "a",
        expires: Int64? = nil,
        kind: String = "paid",
        reason: String = "expired"
    ) -> ProjectionRow {
        ProjectionRow(
            .text(product),
            .integer(from),
            .integer(expires ?? to),
            .timestamp(Instant(milliseconds: from)),
            .timestamp(Instant(milliseconds: to)),
            .text(kind),
            .text(reason),
            .null,
            .null,
            .null,
            .null,
            .null,
            .null,
            .texts([]),
            causedBy: [Position(lane: .only, offset: from)]
        )
    }

    /// A purchase with only its start and price known.
    static func transaction(_ start: Int64, _ price: Int64) -> ProjectionRow {
        let values = projection("transactions").columns.map { column -> ColumnValue in
            switch column {
            case "start_time": .timestamp(Instant(milliseconds: start))
            case "price_milliunits": .integer(price)
            default: .null
            }
        }
        return ProjectionRow(values: values, positions: [Position(lane: .only, offset: start)])
    }

    /// A case with only its purchase and refunded amount known.
    static func refund(_ purchase: Int64, _ given: Int64, _ currency: String) -> ProjectionRow {
        let values = projection("refunds").columns.map { column -> ColumnValue in
            switch column {
            case "purchase_date_ms": .integer(purchase)
            case "refunded_milliunits": .integer(given)
            case "currency": .text(currency)
            default: .null
            }
        }
        return ProjectionRow(values: values, positions: [Position(lane: .only, offset: purchase)])
    }

    static func movement(_ at: Int64, _ amount: Int64, _ currency: String?) -> ProjectionRow {
        ProjectionRow(
            .text("renewal"),
            .null,
            .null,
            .null,
            .null,
            .timestamp(Instant(milliseconds: at)),
            .text("a"),
            .null,
            .integer(at),
            .null,
            .integer(amount),
            currency.map { .text($0) } ?? .null,
            .boolean(false),
            .boolean(false),
            .null,
            causedBy: [Position(lane: .only, offset: at)]
        )
    }
}

extension ProjectionRow {
    func caused(by offset: Int64) -> ProjectionRow {
        ProjectionRow(values: values, positions: [Position(lane: .only, offset: offset)])
    }

    func without(_ column: Int) -> ProjectionRow {
        var values = values
        values.remove(at: column)
        return ProjectionRow(values: values, positions: positions)
    }
}

extension TableTotals {
    /// `kind rows/streams`, in listing order.
    var words: [String] { changes.map { "\($0.kind) \($0.count.rows)/\($0.count.streams)" } }
}

extension ProjectionDifference {
    /// `currency +gained -lost`, in listing order.
    var moneyWords: [String] {
        production.money.map { "\($0.currency ?? "?") +\($0.gained) -\($0.lost)" }
    }
}
