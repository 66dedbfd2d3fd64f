public import Events
public import Postgres

/// The log of one ledger: append verified facts, read streams, verify the chain.
///
/// Safe to use from many tasks and many processes at once.
public final class EventLog: Sendable {
    /// What can never change about this ledger.
    public let identity: LedgerIdentity
    /// Connections for reading, at most.
    public let readersMax: Int
    let pool: PostgresPool
    let spooledEventsMin: Int64
    private let appenders: [Appender]

    /// How a log is opened.
    public struct Options: Sendable {
        /// Connections for reading, at most.
        public var readersMax = 4
        /// Connections that append.
        ///
        /// Lanes are dealt out among them; more than one pays off above
        /// some sixty concurrent callers on several lanes.
        public var writers = 1
        /// Events of a lane from which on reading all of it goes by a temporary file, which costs
        /// less than walking the index; below it nothing is written.
        public var spooledEventsMin: Int64 = 100_000
        /// Our clock.
        public var clock: @Sendable () -> Instant = { Instant.systemClock() }

        /// The defaults.
        public init() {}
    }

    /// Most facts one payload may bring into one lane: a receipt of a heavy user has thousands.
    public static let factsPerPayloadMax = 100_000

    /// Opens the ledger of a database; throws `notMigrated` where there is none.
    public static func open(
        _ settings: ConnectionSettings,
        _ options: Options = Options()
    ) async throws(EventLogError) -> EventLog {
        let pool = PostgresPool(settings, sessionsMax: options.readersMax)
        do {
            let identity = try await pool.borrowing { session in
                try await Migrator.identity(of: session)
            }
            return EventLog(pool, identity, settings, options)
        } catch {
            await pool.close()
            throw EventLog.error(error, doing: "open the ledger")
        }
    }

    private init(
        _ pool: PostgresPool,
        _ identity: LedgerIdentity,
        _ settings: ConnectionSettings,
        _ options: Options
    ) {
        self.pool = pool
        self.identity = identity
        readersMax = options.readersMax
        spooledEventsMin = options.spooledEventsMin
        appenders = (0..<max(1, options.writers)).map { _ in
            Appender(settings: settings, identity: identity, clock: options.clock)
        }
    }

    /// Appends what is news among verified facts, with the payload that proves them.
    ///
    /// Returns when everything is durable, one outcome a fact, in their order. Facts of several
    /// lanes are committed lane by lane; after an error some lanes may be durable, and the same
    /// call again completes the others.
    public func append(
        _ verified: Verified<[Fact]>
    ) async throws(EventLogError) -> [AppendOutcome] {
        let facts = verified.value
        guard facts.count <= EventLog.factsPerPayloadMax else {
            throw EventLogError(
                .tooManyFacts,
                "payload \(verified.evidence.digest) brings \(facts.count) facts; "
                    + "at most \(EventLog.factsPerPayloadMax) are taken at once"
            )
        }
        let packed = EvidencePacking.pack(verified.evidence.payload)
        var indexes: [Int: [Int]] = [:]
        for (index, fact) in facts.enumerated() {
            let lane = identity.lanes.lane(of: fact.stream.originalTransactionId)
            indexes[lane, default: []].append(index)
        }
        var outcomes = [AppendOutcome?](repeating: nil, count: facts.count)
        for (lane, indexes) in indexes.sorted(by: { $0.key < $1.key }) {
            let submission = Submission(
                evidence: verified.evidence,
                packed: packed,
                facts: indexes.map { PreparedFact(facts[$0]) }
            )
            let appended = try await appenders[lane % appenders.count].append(
                submission,
                to: lane
            )
            for (index, outcome) in zip(indexes, appended) { outcomes[index] = outcome }
        }
        return outcomes.compactMap { $0 }
    }

    /// Finishes what was handed over and closes all connections.
    public func close() async {
        for appender in appenders { await appender.close() }
        await pool.close()
    }

    /// Runs a read on a pooled connection and turns refusals of the database into ours.
    func reading<Value: Sendable>(
        _ action: String,
        _ body: @Sendable (PostgresSession) async throws -> Value
    ) async throws(EventLogError) -> Value {
        do {
            return try await pool.borrowing(body)
        } catch {
            throw EventLog.error(error, doing: action)
        }
    }

    static func error(_ error: any Error, doing action: String) -> EventLogError {
        switch error {
        case let thrown as Thrown: self.error(thrown.error, doing: action)
        case let error as EventLogError: error
        case let error as PostgresError: EventLogError(error, doing: action)
        default: EventLogError(.database, "\(action): \(error)")
        }
    }
}
