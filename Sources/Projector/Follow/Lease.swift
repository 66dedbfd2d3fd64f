internal import Events
internal import Postgres
internal import Projections

/// The lease of a lane, so several processes divide the lanes rather than repeat the work.
///
/// Leases are separate for each set of folds: a program with other versions follows other tables,
/// and must not wait for this one's. A lease only saves work: what a step writes is exact without
/// it. One that is not renewed expires, on the server's clock, and another process takes over the
/// lane. One that ends later than any that is taken does not count, because it would never expire.
struct Lease: Sendable {
    /// The name of the process, which `operation.lease` shows.
    let holder: String
    /// Names and versions of the folds whose tables it keeps up to date.
    let folds: String
    /// Seconds for which a step may run before other processes attempt the same.
    let seconds: Double

    /// Takes or renews the lease of a lane; false if another process holds it.
    func take(lane: Int, in session: PostgresSession) async throws -> Bool {
        let longest = Projector.FollowOptions.leaseSecondsMax
        let taken = try await session.query(
            String(sql: embeddedFile("lease.sql")),
            [
                .int4(Int32(lane)), .text(holder), .int8(Int64(min(seconds, longest) * 1000)),
                .text(folds), .int8(Int64(longest * 1000)),
            ]
        )
        return taken.count == 1
    }

    /// Releases all lanes, so no process has to wait for them to expire.
    func release(in session: PostgresSession) async throws {
        try await session.query(
            "DELETE FROM operation.lease WHERE holder = $1",
            [.text(holder)]
        )
    }
}
