internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// The newest instant that Apple signed, up to a position of the log: nothing is known beyond it.
///
/// Stored in `operation.newest_signature` by every process that fills or follows tables, so the
/// whole log need not be read for it. A stored value remains even if its events are erased later.
package enum NewestSignature {
    // The events of `e` that Apple signs or asserts.
    private static let isApples = "e.kind IN ('transaction', 'renewal', 'notification')"

    /// SQL for the newest instant in milliseconds; NULL if there is none.
    ///
    /// - Parameters:
    ///   - heads: Rows with a lane and the last offset in it that counts: `lane`, `lane_offset`.
    ///   - environment: An expression for the environment; nil for all of them.
    ///   - isKept: Whether what is kept counts, which stands and falls with the live tables; else
    ///     the log is read.
    /// - Returns: A query of one row and one column.
    package static func sql(
        upTo heads: String,
        environment: String? = nil,
        isKept: Bool = true
    ) -> String {
        func isAsked(_ row: String) -> String {
            environment.map { " AND \(row).environment = \($0)" } ?? ""
        }
        guard isKept else {
            return """
                SELECT max(e.as_of_ms) FROM \(heads)
                JOIN ledger.event e ON e.lane = h.lane AND e.lane_offset <= h.lane_offset
                WHERE \(isApples)\(isAsked("e"))
                """
        }

        return String(
            sql: embeddedFile("newest-signature-kept.sql"),
            filling: [
                "heads": heads, "kept_asked": isAsked("s"),
                "is_apples": isApples + isAsked("e"),
            ]
        )
    }

    /// Advances the stored value of a lane to an offset; it may be there already, or further.
    static func kept(lane: Int, upTo offset: Int64) -> PostgresStatement {
        PostgresStatement(advance, [.int4(Int32(lane)), .int8(offset)])
    }

    private static let advance = String(
        sql: embeddedFile("newest-signature.sql"),
        filling: ["is_apples": isApples]
    )

    /// The lanes whose stored values are not those of the log: `analytics.last_signed_at` rests on
    /// them.
    ///
    /// An event that was erased later may have been the newest. Its as-of is gone, but it was signed
    /// before it arrived, give or take five minutes between two clocks.
    package static let differing = String(
        sql: embeddedFile("newest-signature-differing.sql"),
        filling: ["is_apples": isApples]
    )

    /// Deletes the stored values of a lane up to an offset, which is about to be read again, and
    /// beyond the end of the log: an older log may have been restored, and may even have grown
    /// since.
    static func deletion(lane: Int, upTo offset: Int64, beyond end: Int64) -> PostgresStatement {
        PostgresStatement(
            """
            DELETE FROM operation.newest_signature
            WHERE lane = $1 AND (lane_offset <= $2 OR lane_offset > $3)
            """,
            [.int4(Int32(lane)), .int8(offset), .int8(end)]
        )
    }
}
