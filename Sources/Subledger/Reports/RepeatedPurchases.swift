internal import EventLog
internal import Events
internal import Postgres

/// Purchases that are in the tables more than once, because a transaction id and line item occur
/// under several original transaction ids (Apple's data: trap 50): only the first counts.
///
/// `analytics.repeated_purchases` finds them. Nearly every ledger has no such purchase, and then a
/// report's query is not changed.
struct RepeatedPurchases: Sendable {
    /// None.
    static let none = RepeatedPurchases()

    private var lanes: [Int32] = []
    private var ids: [String] = []
    private var purchaseDates: [Int64] = []
    private var products: [String] = []

    /// Whether there are none.
    var isEmpty: Bool { lanes.isEmpty }

    /// Finds those of an environment in the tables of a report.
    static func find(
        in environment: Environment,
        _ ground: AnalyticsGround,
        _ session: PostgresSession
    ) async throws -> RepeatedPurchases {
        let rows = try await session.query(ground.sql(repeatedSQL), [.text(environment.word)])
        var found = none
        for row in rows {
            found.lanes.append(try row.int4(0))
            found.ids.append(try row.text(1))
            found.purchaseDates.append(try row.int8(2))
            found.products.append(try row.text(3))
        }
        return found
    }

    /// Names them as they are named once continued subscriptions are joined.
    mutating func join(_ continued: ContinuedSubscriptions) {
        for index in ids.indices {
            guard let first = continued.first(of: lanes[index], ids[index]) else { continue }
            (lanes[index], ids[index]) = first
        }
    }

    /// Excludes them from a query that begins with WITH and has this many parameters.
    func excluded(from query: String, parameterCount: Int) -> String {
        guard !isEmpty else { return query }
        let list = """
            WITH repeated_purchase AS MATERIALIZED (
                SELECT * FROM unnest($\(parameterCount + 1)::int[], $\(parameterCount + 2)::text[],
                    $\(parameterCount + 3)::bigint[], $\(parameterCount + 4)::text[])
                    AS r (lane, original_transaction_id, purchase_date_ms, product_identifier)
            ),
            """
        return query.replacing(#/^\s*WITH /#, with: list + " ")
            .replacing(
                #/analytics\.(transactions|movements)(?![A-Za-z_])/#
            ) { match in
                """
                (SELECT k.* FROM \(match.0) k WHERE NOT EXISTS (
                    SELECT FROM repeated_purchase r WHERE r.lane = k.lane
                        AND r.original_transaction_id = k.original_transaction_id
                        AND r.purchase_date_ms = k.purchase_date_ms
                        AND r.product_identifier = k.product_identifier))
                """
            }
    }

    /// The parameters that follow those of the query.
    var parameters: [PostgresValue] {
        isEmpty
            ? []
            : [
                .int4Array(lanes), .textArray(ids), .int8Array(purchaseDates),
                .textArray(products),
            ]
    }

    private static let repeatedSQL = """
        SELECT r.lane, r.original_transaction_id, r.purchase_date_ms, r.product_identifier
        FROM analytics.repeated_purchases() r WHERE r.environment = $1
        ORDER BY r.lane, r.original_transaction_id, r.purchase_date_ms, r.product_identifier
        """
}
