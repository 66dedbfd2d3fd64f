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
    private typealias Continued = (
        lane: Int32, id: String, firstLane: Int32, firstId: String, place: Int32
    )

    private var subscriptions: [Continued] = []

    /// More purchases than one subscription has: keeps those of a course in order.
    private static let purchasesMax = 100_000

    /// Finds those of an environment in the tables of a report.
    static func find(
        in environment: StoreEnvironment,
        _ ground: AnalyticsGround,
        _ count: LaneCount,
        _ session: PostgresSession
    ) async throws -> ContinuedSubscriptions {
        let sql = ground.sql(ReportSQL.text(embeddedFile("find-continued.sql")))
        let rows = try await session.query(sql, [.text(environment.word)])
        var before: [FieldValue: String] = [:]
        for row in rows { before[.text(try row.text(1))] = try row.text(2) }
        var found = ContinuedSubscriptions()
        for row in rows {
            var (first, place) = (try row.text(2), 1)
            while let earlier = before[.text(first)], place <= rows.count {
                (first, place) = (earlier, place + 1)
            }
            let (lane, id) = (try row.int4(0), try row.text(1))
            let firstLane = Int32(count.lane(of: first))
            found.subscriptions.append((lane, id, firstLane, first, Int32(clamping: place)))
        }
        return found
    }

    /// The first subscription of a course; nil if it continues none.
    func first(of lane: Int32, _ id: String) -> (lane: Int32, id: String)? {
        subscriptions.first { $0.lane == lane && $0.id.utf8.elementsEqual(id.utf8) }
            .map { ($0.firstLane, $0.firstId) }
    }

    /// Joins them in a query that begins with WITH.
    func join(in query: inout ReportStatement) {
        guard !subscriptions.isEmpty else { return }
        query.join(
            "course",
            [
                ("lane", "int", .int4Array(subscriptions.map(\.lane))),
                ("original_transaction_id", "text", .textArray(subscriptions.map(\.id))),
                ("first_lane", "int", .int4Array(subscriptions.map(\.firstLane))),
                ("first_id", "text", .textArray(subscriptions.map(\.firstId))),
                ("place", "int", .int4Array(subscriptions.map(\.place))),
            ]
        ) { table in
            ReportSQL.text(embeddedFile("part-continued.sql"))
                .replacing("{{table}}", with: table)
                .replacing("{{purchases_max}}", with: "\(ContinuedSubscriptions.purchasesMax)")
                // At least one purchase came before.
                .replacing(
                    "{{renewal}}",
                    with: table == "analytics.transactions"
                        ? ", 'renewal_number', k.renewal_number + c.place" : ""
                )
        }
    }

    /// A query in which that of a function takes the place of its call, because a function cannot
    /// read the list.
    func inlined(_ query: String) -> String {
        let call = "analytics.retention_at($4 - interval '1 millisecond')"
        guard !subscriptions.isEmpty, query.contains(call),
            let sql = AnalyticsRelation.needed(by: call).last?.sql,
            case let parts = sql.split(separator: "$$"), parts.count == 3,
            let columns = parts[0].firstMatch(of: #/RETURNS TABLE \(([^)]*)\)/#)
        else { return query }
        let names = columns.1.split(separator: ",").compactMap {
            $0.split(whereSeparator: \.isWhitespace).first
        }
        let body = parts[1].replacing(
            #/\bas_of\b/#,
            with: "($4::timestamptz - interval '1 millisecond')"
        )
        return query.replacing(
            call,
            with: "(SELECT * FROM (\(body)) AS f (\(names.joined(separator: ", "))))"
        )
    }
}
