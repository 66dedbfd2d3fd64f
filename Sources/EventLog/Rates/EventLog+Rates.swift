package import Events
internal import Postgres

extension EventLog {
    // If two imports add a rate for the same day at once, the later one decides again.
    private static let rateAttemptsMax = 5

    /// Stores the rates that are not known yet: all of them or none, with one import time.
    ///
    /// - Parameters:
    ///   - rates: At most one for each key; they are held in memory.
    ///   - isDryRun: Whether they are only compared.
    /// - Returns: The outcome of each, in order.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_writer`.
    public func addRates<Rate: ImportedRate>(
        _ rates: [Rate],
        isDryRun: Bool = false
    ) async throws(EventLogError) -> [ImportedRateOutcome<Rate.Value>] {
        let table = Rate.table
        let sql = EventLog.addRatesSQL(table, isDryRun: isDryRun)
        let fields = rates.map(\.fields)
        let columns = (table.keys + table.values).indices.map { index in
            PostgresValue.textArray(fields.map { $0[index] })
        }
        return try await reading("import rates") { session in
            var attempt = 1
            while true {
                do {
                    return try await session.query(sql, columns).map { row in
                        if try row.bool(0) { return .known }
                        let known = try table.values.indices.compactMap { index in
                            try row.textIfPresent(index + 1)
                        }
                        return Rate.value(known).map { .replaced($0) } ?? .added
                    }
                } catch let error as PostgresError where error.sqlState == "23505" {
                    guard attempt < EventLog.rateAttemptsMax else { throw error }
                    attempt += 1
                }
            }
        }
    }

    // The key acts as the lock: if two imports insert the same revision, one fails.
    private static func addRatesSQL(_ table: ImportedRateTable, isDryRun: Bool) -> String {
        let columns = table.keys + table.values
        func list(_ names: [String], _ text: (String) -> String) -> String {
            names.map(text).joined(separator: ", ")
        }
        let insert = """
            INSERT INTO \(table.name) (\(list(columns) { $0 }), revision, recorded_at)
            SELECT \(list(columns) { "j.\($0)" }), coalesce(j.known_revision, 0) + 1,
                date_trunc('milliseconds', statement_timestamp())
            FROM judged j WHERE NOT j.is_known
            """
        return """
            WITH given AS (
                SELECT \(list(table.keys) { $0 == "day" ? "g.day::date" : "g.\($0)" }),
                    \(list(table.values) { "g.\($0)::numeric" }), g.no
                FROM unnest(\(list(columns.indices.map { "$\($0 + 1)" }) { "\($0)::text[]" }))
                    WITH ORDINALITY AS g (\(list(columns) { $0 }), no)
            ), judged AS (
                SELECT g.*, k.revision AS known_revision,
                    \(list(table.values) { "k.\($0) AS known_\($0)" }),
                    (\(list(table.values) { "k.\($0)" }))
                        IS NOT DISTINCT FROM (\(list(table.values) { "g.\($0)" })) AS is_known
                FROM given g
                LEFT JOIN LATERAL (
                    SELECT r.* FROM \(table.name) r
                    WHERE \(table.keys.map { "r.\($0) = g.\($0)" }.joined(separator: " AND "))
                    ORDER BY r.revision DESC LIMIT 1
                ) k ON true
            ), added AS (
                \(isDryRun ? "SELECT" : insert)
            )
            SELECT j.is_known, \(list(table.values) { "trim_scale(j.known_\($0))::text" })
            FROM judged j ORDER BY j.no
            """
    }

    /// The stored rates: a summary for each pair of currencies, by name.
    public func rateSummaries() async throws(EventLogError) -> [CurrencyRateSummary] {
        let sql = """
            SELECT currency, base_currency, count(DISTINCT day), count(*) - count(DISTINCT day),
                min(day)::text, max(day)::text, trim_scale(
                    (array_agg(rate ORDER BY day DESC, revision DESC))[1])::text, max(recorded_at)
            FROM operation.currency_rate GROUP BY base_currency, currency
            ORDER BY base_currency, currency
            """
        return try await reading("list the rates") { session in
            try await session.query(sql).compactMap { row in
                guard let pair = CurrencyRate.Pair(try row.text(0), in: try row.text(1)),
                    let lastRate = ExactDecimal(try row.text(6))
                else { return nil }
                return CurrencyRateSummary(
                    currency: pair.currency,
                    baseCurrency: pair.baseCurrency,
                    days: try row.int8(2),
                    replaced: try row.int8(3),
                    firstDay: try row.text(4),
                    lastDay: try row.text(5),
                    lastRate: lastRate,
                    recordedAt: Instant(microseconds: try row.timestamptz(7))
                )
            }
        }
    }

    /// The stored rates of commission and tax: a summary for each storefront, by name.
    public func proceedsRateSummaries() async throws(EventLogError) -> [ProceedsRateSummary] {
        let values = ProceedsRate.table.values
        let sql = """
            SELECT storefront, count(DISTINCT day), count(*) - count(DISTINCT day),
                min(day)::text, max(day)::text, max(recorded_at),
                \(values.map { "trim_scale((array_agg(\($0) ORDER BY day DESC, revision DESC))[1])::text" }
                    .joined(separator: ", "))
            FROM operation.proceeds_rate GROUP BY storefront ORDER BY storefront
            """
        return try await reading("list the rates") { session in
            try await session.query(sql).compactMap { row in
                let last = try values.indices.map { try row.text(6 + $0) }
                guard let last = ProceedsRate.value(last) else { return nil }
                return ProceedsRateSummary(
                    storefront: try row.text(0),
                    days: try row.int8(1),
                    replaced: try row.int8(2),
                    firstDay: try row.text(3),
                    lastDay: try row.text(4),
                    last: last,
                    recordedAt: Instant(microseconds: try row.timestamptz(5))
                )
            }
        }
    }

    /// The instant on our clock after which nothing counts; nil for no bound.
    ///
    /// What the operator imported later was not known then. Offsets stand for the instant of the
    /// newest commit that they name.
    package func recordingBound(of knownAt: KnownAt) async throws(EventLogError) -> Instant? {
        switch knownAt {
        case .latest: return nil
        case .time(let instant): return instant
        case .offsets(let offsets):
            var newest = Instant(milliseconds: 0)
            for lane in offsets.keys {
                let mark = try await newestCommit(lane: lane, knownAt: knownAt)
                newest = max(newest, mark?.commit.committedAt ?? newest)
            }
            return newest
        }
    }
}
