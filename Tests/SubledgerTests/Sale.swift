import Postgres

extension Int64 {
    /// Multiplies by a rate in ten-thousandths, halves away from zero; unchanged without one.
    func times(_ rate: Int64?) -> Int64 {
        rate.map { (self * $0).rounded(by: 10_000) } ?? self
    }

    func rounded(by divisor: Int64) -> Int64 { (self + divisor / 2) / divisor }
}

/// A purchase with revenue, as in the table.
struct Sale {
    let month: String
    let day: String
    let currency: String
    let country: String
    let gross: Int64
    let net: Int64
    /// Whether a year of paid service precedes it.
    let isAfterYear: Bool

    static func all(_ session: PostgresSession) async throws -> [Sale] {
        var service: [String: Int64] = [:]
        return try await session.query(
            """
            SELECT (start_time AT TIME ZONE 'UTC')::date::text, currency, coalesce(country, ''),
                coalesce(purchase_price_milliunits, 0), coalesce(price_milliunits, 0),
                original_transaction_id, is_paid, coalesce(gap_seconds, 0), is_auto_renewable,
                coalesce(extract(epoch FROM least(effective_end_time, end_time) - start_time), 0)
                    ::bigint,
                ownership_type IS NOT DISTINCT FROM 'FAMILY_SHARED',
                start_time < date_trunc('day', (SELECT analytics.last_signed_at()))
            FROM analytics.transactions ORDER BY original_transaction_id, ordinal
            """
        ).compactMap { row in
            let id = try row.text(5)
            if try row.int8(7) > 60 * 86_400 { service[id] = 0 }
            let before = service[id, default: 0]
            if try row.bool(6) { service[id, default: 0] += max(0, try row.int8(9)) }
            guard try !row.bool(10), try row.bool(11) else { return nil }
            let day = try row.text(0)
            return Sale(
                month: String(day.prefix(7)),
                day: day,
                currency: try row.text(1),
                country: try row.text(2),
                gross: try row.int8(3),
                net: try row.int8(4),
                isAfterYear: try row.bool(8) && before >= 365 * 86_400
            )
        }.filter { $0.gross > 0 }
    }
}
