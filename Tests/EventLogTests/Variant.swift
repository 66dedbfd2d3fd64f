import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// A layout of the log's tables; every behaviour must be the same on each.
struct Variant: Sendable, CustomTestStringConvertible {
    let lanes: LaneCount
    let isDivided: Bool
    /// Whether it is on one server, also with SUBLEDGER_CITUS.
    var isLocal = false

    static let four = LaneCount(4) ?? .one

    /// Plain tables with one lane.
    static let plain = Variant(lanes: .one, isDivided: false)

    /// Plain tables with four lanes.
    static let fourLanes = Variant(lanes: four, isDivided: false)

    /// Divided tables with one lane.
    static let divided = Variant(lanes: .one, isDivided: true)

    /// The two that differ in every respect.
    static let extremes = [plain, Variant(lanes: four, isDivided: true)]

    /// All four in acceptance, otherwise the extremes.
    static let all =
        Acceptance.isRunning ? [plain, fourLanes, divided, extremes[1]] : extremes

    /// The same on one server, for tests that change or measure that server: its triggers, its
    /// plans, its counters.
    static let local = all.map(\.onOneServer)

    /// The extremes on one server.
    static let localExtremes = extremes.map(\.onOneServer)

    private var onOneServer: Variant {
        Variant(lanes: lanes, isDivided: isDivided, isLocal: true)
    }

    /// Whether its tables are on the servers of the Citus cluster.
    var isDistributed: Bool { isDivided && !isLocal && CitusCluster.shared != nil }

    var testDescription: String { "\(lanes.value) lanes, \(isDivided ? "divided" : "plain")" }

    var layout: Migrator.Layout {
        isDivided && !isLocal
            ? .divided(lanes: lanes) : Migrator.Layout(lanes: lanes, partitions: isDivided ? 4 : 0)
    }

    var name: String {
        "log\(lanes.value)_\(isDivided ? "divided" : "plain")\(isLocal ? "_local" : "")"
    }

    /// An empty ledger to copy.
    var template: TestTemplate {
        TestTemplate(name) { [layout] settings in
            _ = try await Migrator.migrate(settings, layout)
        }
    }

    /// Lends an empty ledger.
    func withDatabase<R>(_ body: (ConnectionSettings) async throws -> R) async throws -> R {
        try await TestServer.shared.withDatabase(from: template, body)
    }

    /// Lends an open log of an empty ledger, and its database for inspection.
    func withLog<R>(
        clock: @escaping @Sendable () -> Instant = { TestClock.noon },
        _ body: (EventLog, ConnectionSettings) async throws -> R
    ) async throws -> R {
        try await withDatabase { settings in
            let log = try await EventLog.open(settings, .test(clock: clock))
            do {
                let result = try await body(log, settings)
                await log.close()
                return result
            } catch {
                await log.close()
                throw error
            }
        }
    }

    /// Ids of streams in that lane, the first of an endless sequence.
    func ids(inLane lane: Int, count: Int) -> [String] {
        let ids = (1_000_000...).lazy.map { String($0) }
        return Array(ids.filter { lanes.lane(of: $0) == lane }.prefix(count))
    }
}

extension EventLog.Options {
    /// Reads every lane through a temporary file, however short it is.
    static var spooling: EventLog.Options {
        var options = EventLog.Options.test()
        options.spooledEventsMin = 1
        return options
    }

    /// One reader, because tests may hold only a few sessions.
    static func test(
        clock: @escaping @Sendable () -> Instant = { TestClock.noon }
    ) -> EventLog.Options {
        var options = EventLog.Options()
        options.readersMax = 1
        options.clock = clock
        return options
    }
}

/// Our clock in tests: it stands still.
enum TestClock {
    static let noon = Instant(milliseconds: 1_790_000_000_123)
}

/// Reads the tables directly, without the log.
struct Inspector {
    let session: PostgresSession

    init(_ settings: ConnectionSettings) async throws {
        session = try await PostgresSession.connect(settings)
    }

    /// Lends an inspector and then closes its session.
    static func inspect<R: Sendable>(
        _ settings: ConnectionSettings,
        _ body: (Inspector) async throws -> R
    ) async throws -> R {
        let inspector = try await Inspector(settings)
        do {
            let result = try await body(inspector)
            await inspector.session.close()
            return result
        } catch {
            await inspector.session.close()
            throw error
        }
    }

    /// The only number of the only row.
    func number(_ sql: String) async throws -> Int64 {
        try await session.query("SELECT (\(sql))::bigint").single().int8(0)
    }

    /// The rows of a query of one text column.
    func texts(_ sql: String) async throws -> [String] {
        let rows = try await session.query(sql)
        return try rows.map { try $0.text(0) }
    }

    /// The number of rows of a table of the log.
    static func count(_ table: String, _ settings: ConnectionSettings) async throws -> Int64 {
        try await inspect(settings) { try await $0.number("SELECT count(*) FROM ledger.\(table)") }
    }
}

/// Whether the tables keep the promises of the log; records an issue for each breach.
func expectSound(
    _ log: EventLog,
    _ settings: ConnectionSettings,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await Inspector.inspect(settings) { inspector in
        for (rule, sql) in soundness {
            let breaches = try await inspector.number(sql)
            let text: Comment = "\(rule) \(comment?.description ?? "")"
            #expect(breaches == 0, text, sourceLocation: sourceLocation)
        }
    }
    let report = try await log.verify()
    #expect(
        report.firstMismatch == nil,
        "\(String(describing: report.firstMismatch)) \(comment?.description ?? "")",
        sourceLocation: sourceLocation
    )
}

private let soundness = [
    (
        "offsets are dense from 1",
        """
        SELECT count(*) FROM (SELECT max(lane_offset) <> count(*) OR min(lane_offset) <> 1 AS bad
            FROM ledger.event GROUP BY lane) l WHERE bad
        """
    ),
    (
        "commits are dense from 1 and account for all events",
        """
        SELECT count(*) FROM (
            SELECT commit_no <> row_number() OVER w
                OR first_offset <> 1 + coalesce(sum(count) OVER (w ROWS BETWEEN
                    UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bad
            FROM ledger.commit WINDOW w AS (PARTITION BY lane ORDER BY commit_no)) c WHERE bad
        """
    ),
    (
        "recorded_at never falls within a lane",
        """
        SELECT count(*) FROM (
            SELECT recorded_at < lag(recorded_at) OVER (PARTITION BY lane ORDER BY lane_offset)
                AS bad FROM ledger.event) e WHERE bad
        """
    ),
    (
        "no statement of one as-of is there twice",
        """
        SELECT count(*) FROM (SELECT 1 FROM ledger.event
            GROUP BY environment, original_transaction_id, kind, purchase_date_ms,
                expires_date_ms, as_of_ms, fact_key HAVING count(*) > 1) e
        """
    ),
]
