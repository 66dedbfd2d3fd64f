internal import Postgres
internal import Projections

/// Who follows a lane, so that several processes share the lanes rather than the work.
///
/// Of each set of folds: a program with other versions follows other tables, and must not wait for
/// this one's. A lease only saves work: what a step writes is exact without it. One that is not
/// renewed expires, on the server's clock, and the lane is taken over.
struct Lease: Sendable {
    /// The process, in words that `operation.lease` shows.
    let holder: String
    /// Names and versions of the folds whose tables it brings on.
    let folds: String
    /// For how long a step may go on before others try the same.
    let seconds: Double

    private static let take = """
        INSERT INTO operation.lease (lane, folds, holder, expires_at)
        VALUES ($1, $4, $2, clock_timestamp() + $3 * interval '1 millisecond')
        ON CONFLICT ON CONSTRAINT lease_pkey DO UPDATE
            SET holder = excluded.holder, expires_at = excluded.expires_at
            WHERE lease.holder = excluded.holder OR lease.expires_at <= clock_timestamp()
        RETURNING lane
        """

    /// Takes or renews the lease of a lane; false where somebody else holds it.
    func take(lane: Int, in session: PostgresSession) async throws -> Bool {
        let taken = try await session.query(
            Lease.take,
            [
                .int4(Int32(lane)), .text(holder), .int8(Int64(seconds * 1000)),
                .text(folds),
            ]
        )
        return taken.count == 1
    }

    /// Gives all lanes back, so that nobody waits for them to expire.
    func release(in session: PostgresSession) async throws {
        try await session.query(
            "DELETE FROM operation.lease WHERE holder = $1",
            [.text(holder)]
        )
    }
}
