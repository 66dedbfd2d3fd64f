internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// Subscriptions that continue another one, because Apple gave a renewal an original id of its own
/// (Decisions: renewals with original ids of their own): a report counts each course once, under
/// its first id.
///
/// Nearly every ledger has none, and then a report's query is not changed.
struct ContinuedSubscriptions: Sendable {
    private var lanes: [Int32] = []
    private var ids: [String] = []
    private var firstLanes: [Int32] = []
    private var firstIds: [String] = []
    private var places: [Int32] = []

    /// Whether there are none.
    var isEmpty: Bool { ids.isEmpty }

    /// More purchases than one subscription has: keeps those of a course in order.
    private static let purchasesMax = 100_000

    /// Finds those of an environment in the tables of a report.
    static func find(
        in environment: Environment,
        _ ground: AnalyticsGround,
        _ count: LaneCount,
        _ session: PostgresSession
    ) async throws -> ContinuedSubscriptions {
        let rows = try await session.query(ground.sql(continuedSQL), [.text(environment.word)])
        var before: [FieldValue: String] = [:]
        for row in rows { before[.text(try row.text(1))] = try row.text(2) }
        var found = ContinuedSubscriptions()
        for row in rows {
            var (first, place) = (try row.text(2), 1)
            while let earlier = before[.text(first)], place <= rows.count {
                (first, place) = (earlier, place + 1)
            }
            found.lanes.append(try row.int4(0))
            found.ids.append(try row.text(1))
            found.firstLanes.append(Int32(count.lane(of: first)))
            found.firstIds.append(first)
            found.places.append(Int32(clamping: place))
        }
        return found
    }

    /// The first subscription of a course; nil if it continues none.
    func first(of lane: Int32, _ id: String) -> (lane: Int32, id: String)? {
        ids.indices.first { lanes[$0] == lane && ids[$0].utf8.elementsEqual(id.utf8) }
            .map { (firstLanes[$0], firstIds[$0]) }
    }

    /// Joins them in a query that begins with WITH and has this many parameters.
    func joined(in query: String, parameterCount: Int) -> String {
        guard !isEmpty else { return query }
        let list = """
            WITH course AS MATERIALIZED (
                SELECT * FROM unnest($\(parameterCount + 1)::int[], $\(parameterCount + 2)::text[],
                    $\(parameterCount + 3)::int[], $\(parameterCount + 4)::text[],
                    $\(parameterCount + 5)::int[])
                    AS c (lane, original_transaction_id, first_lane, first_id, place)
            ),
            """
        return query.replacing(#/^\s*WITH /#, with: list + " ")
            .replacing(#/analytics\.(transactions|movements)(?![A-Za-z_])/#) { match in
                """
                (SELECT k.* FROM \(match.0) k WHERE NOT EXISTS (
                    SELECT FROM course c WHERE c.lane = k.lane
                        AND c.original_transaction_id = k.original_transaction_id)
                UNION ALL
                SELECT (jsonb_populate_record(k, jsonb_build_object('lane', c.first_lane,
                    'original_transaction_id', c.first_id,
                    'ordinal', k.ordinal + c.place * \(ContinuedSubscriptions.purchasesMax)
                    \(match.1 == "transactions" ? ContinuedSubscriptions.renewal : "")))).*
                FROM course c
                JOIN \(match.0) k ON k.lane = c.lane
                    AND k.original_transaction_id = c.original_transaction_id)
                """
            }
    }

    /// The parameters that follow those of the query.
    var parameters: [PostgresValue] {
        isEmpty
            ? []
            : [
                .int4Array(lanes), .textArray(ids), .int4Array(firstLanes), .textArray(firstIds),
                .int4Array(places),
            ]
    }

    // At least one purchase came before.
    private static let renewal = ", 'renewal_number', k.renewal_number + c.place"

    /// A query in which that of a function takes the place of its call, because a function cannot
    /// read the list.
    static func inlined(_ query: String, unless isEmpty: Bool) -> String {
        let call = "analytics.retention_at($4)"
        guard !isEmpty, query.contains(call),
            let sql = AnalyticsRelation.needed(by: call).last?.sql,
            case let parts = sql.split(separator: "$$"), parts.count == 3,
            let columns = parts[0].firstMatch(of: #/RETURNS TABLE \(([^)]*)\)/#)
        else { return query }
        let names = columns.1.split(separator: ",").compactMap {
            $0.split(whereSeparator: \.isWhitespace).first
        }
        let body = parts[1].replacing(#/\bas_of\b/#, with: "$4::timestamptz")
        return query.replacing(
            call,
            with: "(SELECT * FROM (\(body)) AS f (\(names.joined(separator: ", "))))"
        )
    }

    private static let continuedSQL = """
        SELECT t.lane, t.original_transaction_id, t.continued_original_transaction_id
        FROM projection.transactions t
        WHERE t.environment = $1 AND t.continued_original_transaction_id IS NOT NULL
        ORDER BY t.lane, t.original_transaction_id
        """
}
