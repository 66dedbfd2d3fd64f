internal import EventLog
internal import Events
internal import Postgres

/// Purchases that are in the tables more than once, because a transaction id and line item occur
/// under several original transaction ids (Apple's data: trap 50): money counts only the first.
///
/// The tables are folds of single subscriptions, so they cannot show this. Nearly every ledger has
/// no such purchase, and then a report's query is not changed.
struct RepeatedPurchases: Sendable {
    /// None.
    static let none = RepeatedPurchases()

    private var lanes: [Int32] = []
    private var ids: [String] = []
    private var ordinals: [Int32] = []
    private var purchaseDates: [Int64] = []

    /// Whether there are none.
    var isEmpty: Bool { lanes.isEmpty }

    /// The most transaction ids that are examined.
    static let transactionsMax = 100_000

    /// Finds those of an environment in the tables of a report.
    static func find(
        in environment: Environment,
        _ ground: AnalyticsGround,
        _ session: PostgresSession
    ) async throws -> RepeatedPurchases {
        let repeated = try await session.query(
            ground.sql(repeatedSQL),
            [.int8(Int64(transactionsMax))]
        )
        guard repeated.count > 0 else { return none }
        let ids = try (0..<repeated.count).map { try repeated[$0].text(0) }
        let rows = try await session.query(
            ground.sql(purchasesSQL),
            [.text(environment.word), .textArray(ids)]
        )
        var (found, last) = (none, [String]())
        for index in 0..<rows.count {
            let row = rows[index]
            let key = [try row.text(0), try row.text(1)]
            // The rows come by original id: the first of a purchase is the one that counts.
            defer { last = key }
            guard zip(key, last).allSatisfy({ $0.utf8.elementsEqual($1.utf8) }), !last.isEmpty,
                !key[1].isPlaceholder
            else { continue }
            found.lanes.append(try row.int4(2))
            found.ids.append(try row.text(3))
            found.ordinals.append(try row.int4(4))
            found.purchaseDates.append(try row.int8(5))
        }
        return found
    }

    /// Excludes them from a query that begins with WITH and has this many parameters.
    func excluded(from query: String, parameterCount: Int) -> String {
        guard !isEmpty else { return query }
        let list = """
            WITH repeated_purchase AS MATERIALIZED (
                SELECT * FROM unnest($\(parameterCount + 1)::int[], $\(parameterCount + 2)::text[],
                    $\(parameterCount + 3)::int[], $\(parameterCount + 4)::bigint[])
                    AS r (lane, original_transaction_id, ordinal, purchase_date_ms)
            ),
            """
        return query.replacing(#/^\s*WITH /#, with: list + " ")
            .replacing(
                #/analytics\.(transactions|movements)(?![A-Za-z_])/#
            ) { match in
                let key = match.1 == "transactions" ? "ordinal" : "purchase_date_ms"
                return """
                    (SELECT k.* FROM \(match.0) k WHERE NOT EXISTS (
                        SELECT FROM repeated_purchase r WHERE r.lane = k.lane
                            AND r.original_transaction_id = k.original_transaction_id
                            AND r.\(key) = k.\(key)))
                    """
            }
    }

    /// The parameters that follow those of the query.
    var parameters: [PostgresValue] {
        isEmpty
            ? []
            : [
                .int4Array(lanes), .textArray(ids), .int4Array(ordinals),
                .int8Array(purchaseDates),
            ]
    }

    // The index on store_transaction_id alone answers this.
    private static let repeatedSQL = """
        SELECT t.store_transaction_id FROM projection.transactions t
        WHERE t.store_transaction_id IS NOT NULL
        GROUP BY t.store_transaction_id HAVING count(*) > 1 LIMIT $1
        """

    private static let purchasesSQL = """
        SELECT t.store_transaction_id, t.web_order_line_item_id, t.lane, t.original_transaction_id,
            t.ordinal, t.purchase_date_ms
        FROM projection.transactions t
        WHERE t.environment = $1 AND t.store_transaction_id = ANY ($2)
            AND t.web_order_line_item_id IS NOT NULL
        ORDER BY t.store_transaction_id, t.web_order_line_item_id, t.original_transaction_id,
            t.ordinal
        """
}
