package import Events
internal import Postgres

/// The outcome of adding a rate.
package enum CurrencyRateOutcome: Hashable, Sendable {
    /// It is, or in a dry run would be, the first one for its day.
    case added
    /// It replaces another rate for its day.
    case replaced(ExactDecimal)
    /// It was already known.
    case known
}

extension EventLog {
    // If two imports add a rate for the same day at once, the later one decides again.
    private static let rateAttemptsMax = 5

    /// Stores the rates that are not known yet: all of them or none, with one import time.
    ///
    /// - Parameters:
    ///   - rates: At most one for each pair and day; they are held in memory.
    ///   - isDryRun: Whether they are only compared.
    /// - Returns: The outcome of each, in order.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_writer`.
    package func addRates(
        _ rates: [CurrencyRate],
        isDryRun: Bool = false
    ) async throws(EventLogError) -> [CurrencyRateOutcome] {
        let sql = EventLog.addRatesSQL(isDryRun: isDryRun)
        return try await reading("import rates") { session in
            var attempt = 1
            while true {
                do {
                    return try await session.query(
                        sql,
                        [
                            .textArray(rates.map(\.key.pair.baseCurrency)),
                            .textArray(rates.map(\.key.pair.currency)),
                            .textArray(rates.map(\.key.day)), .textArray(rates.map(\.rate.text)),
                        ]
                    ).map { row -> CurrencyRateOutcome in
                        if try row.bool(0) { return .known }
                        return try row.textIfPresent(1).flatMap(ExactDecimal.init).map {
                            .replaced($0)
                        } ?? .added
                    }
                } catch let error as PostgresError where error.sqlState == "23505" {
                    guard attempt < EventLog.rateAttemptsMax else { throw error }
                    attempt += 1
                }
            }
        }
    }

    // The key acts as the lock: if two imports insert the same revision, one fails.
    private static func addRatesSQL(isDryRun: Bool) -> String {
        """
        WITH given AS (
            SELECT g.base_currency, g.currency, g.day::date, g.rate::numeric, g.no
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
                AS g (base_currency, currency, day, rate, no)
        ), judged AS (
            SELECT g.*, k.revision AS known_revision, k.rate AS known_rate,
                k.rate IS NOT DISTINCT FROM g.rate AS is_known
            FROM given g
            LEFT JOIN LATERAL (
                SELECT r.revision, r.rate FROM operation.currency_rate r
                WHERE r.base_currency = g.base_currency AND r.currency = g.currency
                    AND r.day = g.day
                ORDER BY r.revision DESC LIMIT 1
            ) k ON true
        ), added AS (
            \(isDryRun ? "SELECT" : insert)
        )
        SELECT j.is_known, trim_scale(j.known_rate)::text FROM judged j ORDER BY j.no
        """
    }

    private static let insert = """
        INSERT INTO operation.currency_rate
            (base_currency, currency, day, revision, rate, recorded_at)
        SELECT j.base_currency, j.currency, j.day, coalesce(j.known_revision, 0) + 1, j.rate,
            date_trunc('milliseconds', statement_timestamp())
        FROM judged j WHERE NOT j.is_known
        """

    /// The stored rates: a summary for each pair of currencies, by name.
    package func rateSummaries() async throws(EventLogError) -> [CurrencyRateSummary] {
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
