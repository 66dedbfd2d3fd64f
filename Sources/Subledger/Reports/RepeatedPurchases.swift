internal import EventLog
internal import Events
internal import Postgres

/// Purchases that are in the tables more than once, because a transaction id and line item occur
/// under several original transaction ids (Apple's data: trap 50): only the first counts.
///
/// `analytics.repeated_purchases` finds them. Nearly every ledger has no such purchase, and then a
/// report's query is not changed.
struct RepeatedPurchases: Sendable {
    private typealias Purchase = (lane: Int32, id: String, date: Int64, product: String)

    private var purchases: [Purchase] = []

    /// Finds those of an environment in the tables of a report.
    static func find(
        in environment: StoreEnvironment,
        _ ground: AnalyticsGround,
        _ session: PostgresSession
    ) async throws -> RepeatedPurchases {
        let sql = ground.sql(ReportSQL.text(embeddedFile("find-repeated.sql")))
        var found = RepeatedPurchases()
        for row in try await session.query(sql, [.text(environment.word)]) {
            let (lane, id) = (try row.int4(0), try row.text(1))
            found.purchases.append((lane, id, try row.int8(2), try row.text(3)))
        }
        return found
    }

    /// Names them as they are named once continued subscriptions are joined.
    mutating func join(_ continued: ContinuedSubscriptions) {
        for index in purchases.indices {
            let purchase = purchases[index]
            guard let first = continued.first(of: purchase.lane, purchase.id) else { continue }
            (purchases[index].lane, purchases[index].id) = first
        }
    }

    /// Excludes them from a query that begins with WITH.
    func exclude(from query: inout ReportStatement) {
        guard !purchases.isEmpty else { return }
        query.join(
            "repeated_purchase",
            [
                ("lane", "int", .int4Array(purchases.map(\.lane))),
                ("original_transaction_id", "text", .textArray(purchases.map(\.id))),
                ("purchase_date_ms", "bigint", .int8Array(purchases.map(\.date))),
                ("product_identifier", "text", .textArray(purchases.map(\.product))),
            ]
        ) { table in
            guard table.hasPrefix("analytics.") else { return String(table) }
            return ReportSQL.text(embeddedFile("part-repeated.sql"))
                .replacing("{{table}}", with: table)
        }
    }
}

/// A query of a report that begins with WITH, and its parameters.
struct ReportStatement {
    /// The query.
    var text: String
    /// Its parameters.
    var parameters: [PostgresValue]

    private static var tables: Regex<Substring> {
        #/(?:analytics\.(?:transactions|movements)|projection\.(?:plan_changes|refunds))(?![A-Za-z_])/#
    }

    /// Puts a list of rows into the query, and another text in place of each table of purchases,
    /// movements, changes of plan and refunds.
    mutating func join(
        _ name: String,
        _ columns: [(name: String, type: String, values: PostgresValue)],
        replacing replacement: (Substring) -> String
    ) {
        let places = columns.enumerated().map { index, column in
            "$\(parameters.count + index + 1)::\(column.type)[]"
        }
        let list = """
            WITH \(name) AS MATERIALIZED (
                SELECT * FROM unnest(\(places.joined(separator: ", ")))
                    AS r (\(columns.map(\.name).joined(separator: ", ")))
            ),
            """
        text = text.replacing(#/^\s*WITH /#, with: list + " ")
            .replacing(ReportStatement.tables) { replacement($0.output) }
        parameters += columns.map(\.values)
    }
}
