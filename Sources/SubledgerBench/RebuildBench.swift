import CommandSupport
import EventLog
import Events
import Postgres
import Projector

/// Runs the measurements of `bench rebuild` on an existing log.
struct RebuildBench {
    let settings: ConnectionSettings

    /// Events of the existing log; zero if there is none.
    func existingEvents() async -> Int {
        do {
            return try await events()
        } catch {
            return 0
        }
    }

    /// Events of the log.
    func events() async throws -> Int {
        let log = try await EventLog.open(settings)
        let heads = try await log.heads()
        await log.close()
        return heads.values.reduce(0) { $0 + Int($1.offset) }
    }

    /// One round.
    func measure(into results: inout RebuildBenchResults) async throws {
        try await measureReading(into: &results)
        try await measureRebuilds(into: &results)
        try await measureDiff(into: &results)
        try await measureWriting(into: &results)
        try await measureFollow(into: &results)
        try await measurePlainSQL(into: &results)
    }

    private func measureDiff(into results: inout RebuildBenchResults) async throws {
        let log = try await EventLog.open(settings)
        let projector = Projector(log: log, settings: settings)
        var options = Projector.RebuildOptions()
        options.jobs = results.jobs
        try await results.record(.diff) { _ = try await projector.compare(then: .wait, options) }
        let locked = try await projector.promote().lockMilliseconds
        results.promoteLockMilliseconds = max(results.promoteLockMilliseconds, locked)
        await log.close()
    }

    /// The share of the log with which `follow` has to catch up: some days of a ledger of years.
    private static let followedShare = 0.05

    private func measureFollow(into results: inout RebuildBenchResults) async throws {
        let log = try await EventLog.open(settings)
        let projector = Projector(log: log, settings: settings)
        let positions = try await followedPositions(log)
        guard positions.values.contains(where: { $0 > 0 }) else {
            Terminal.write(
                "follow is not measured: the log has one commit, and steps are whole ones"
            )
            await log.close()
            return
        }
        var options = Projector.RebuildOptions()
        options.jobs = results.jobs
        _ = try await projector.build(
            into: "bench",
            upTo: .offsets(positions),
            isFollowed: true,
            options
        )
        var following = Projector.FollowOptions(holder: "bench")
        following.isOnce = true
        let done = try await results.record(.follow) { try await projector.follow(following) }
        results.followedEvents = done.events
        try await projector.discard(schema: "bench")
        await log.close()
    }

    // Tables end at commits: in a log of few commits, the last share may not contain the beginning
    // of one; then the last commit is followed.
    private func followedPositions(_ log: EventLog) async throws -> [Int: Int64] {
        var positions: [Int: Int64] = [:]
        for (lane, head) in try await log.heads() {
            guard let last = try await log.newestCommit(lane: lane) else { continue }
            positions[lane] = min(
                Int64(Double(head.offset) * (1 - RebuildBench.followedShare)),
                last.commit.firstOffset - 1
            )
        }
        return positions
    }

    private func measureReading(into results: inout RebuildBenchResults) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute("CHECKPOINT")
        try await results.record(.readLimit) {
            try await session.execute("COPY ledger.event TO '/dev/null' (FORMAT BINARY)")
        }
        try await results.record(.drainedRead) {
            _ = try await session.copyOut(
                "COPY ledger.event TO STDOUT (FORMAT BINARY)",
                into: 0
            ) { (count, bytes) throws(PostgresError) in count += bytes.count }
        }
        await session.close()
        let log = try await EventLog.open(settings)
        let jobs = results.jobs
        try await results.record(.scan) { try await RebuildBench.scan(log, jobs: jobs) }
        await log.close()
    }

    private func measureRebuilds(into results: inout RebuildBenchResults) async throws {
        let log = try await EventLog.open(settings)
        let projector = Projector(log: log, settings: settings)
        let periods = try projector.projections(named: ["active_periods"])
        var options = Projector.RebuildOptions()
        options.jobs = results.jobs
        try await results.record(.activePeriodsOneJob) { _ = try await projector.rebuild(periods) }
        try await results.record(.activePeriods) {
            _ = try await projector.rebuild(periods, options)
        }
        try await results.record(.all) { _ = try await projector.rebuild(nil, options) }
        await log.close()
    }

    private func measurePlainSQL(into results: inout RebuildBenchResults) async throws {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(RebuildBench.plainSettings)
        try await results.record(.plainSQL) { try await session.execute(RebuildBench.plainSQL) }
        try await session.execute("DROP SCHEMA plain CASCADE")
        await session.close()
    }

    /// Reads the log as a rebuild does, without a fold.
    private static func scan(_ log: EventLog, jobs: Int) async throws {
        for (lane, head) in try await log.heads().sorted(by: { $0.key < $1.key }) {
            let ranges = try await log.streamRanges(
                lane: lane,
                upTo: head,
                atLeast: jobs * RebuildBench.rangesPerJob
            )
            try await WorkList.run(ranges.count, workers: jobs) { _, index in
                _ = try await log.foldStreams(in: ranges[index], upTo: head, into: 0) {
                    $0 += $1.events.count
                }
            }
        }
    }

    /// Ranges of streams for each connection, as in a rebuild.
    private static let rangesPerJob = 16

    /// The best settings for plain SQL on a server with two cores.
    private static let plainSettings = """
        SET max_parallel_workers_per_gather = 2;
        SET max_parallel_maintenance_workers = 2;
        SET work_mem = '256MB';
        SET maintenance_work_mem = '256MB'
        """

    /// The query that a developer would write without a fold: one row for each purchase, cut by the
    /// next start.
    ///
    /// It ignores refunds, extensions, grace and aliases, whose fields have no column of their own.
    private static let plainSQL = """
        CREATE SCHEMA plain;
        CREATE TABLE plain.active_periods AS
        SELECT lane, environment, original_transaction_id,
            row_number() OVER stream AS ordinal, product_identifier, purchase_date_ms,
            expires_date_ms, purchase_date_ms AS valid_from_ms,
            least(expires_date_ms, lead(purchase_date_ms) OVER stream) AS valid_to_ms,
            'paid' AS kind,
            CASE WHEN lead(purchase_date_ms) OVER stream < expires_date_ms THEN 'upgraded'
                ELSE 'expired' END AS end_reason,
            positions
        FROM (
            SELECT lane, environment, original_transaction_id, purchase_date_ms, expires_date_ms,
                max(product_id) AS product_identifier,
                array_agg(lane_offset ORDER BY lane_offset) AS positions
            FROM ledger.event WHERE kind = 'transaction' AND expires_date_ms <> 0
            GROUP BY lane, environment, original_transaction_id, purchase_date_ms, expires_date_ms
        ) AS purchase
        WINDOW stream AS (PARTITION BY lane, environment, original_transaction_id
            ORDER BY purchase_date_ms);
        ALTER TABLE plain.active_periods
            ADD PRIMARY KEY (lane, environment, original_transaction_id, ordinal);
        CREATE INDEX ON plain.active_periods (original_transaction_id);
        CREATE INDEX ON plain.active_periods (valid_to_ms);
        """
}
