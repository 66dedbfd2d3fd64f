public import Events
package import Postgres
internal import Synchronization

/// The log of one ledger: append verified facts, read streams, verify the chain.
///
/// Safe to use from many tasks and many processes at once.
public final class EventLog: Sendable {
    /// The unchangeable properties of this ledger.
    package let identity: LedgerIdentity
    /// Why what an append answers may not survive a crash of the server, in one sentence without its
    /// full stop; nil if it does.
    package let durabilityFault: String?
    /// The most connections for reading.
    package let readersMax: Int
    /// How to connect to the database.
    package let settings: ConnectionSettings
    /// Seconds between the clocks of both sides beyond which appends are refused.
    package let clockSkewSecondsMax: Int64
    /// The connections for reading.
    let pool: PostgresPool
    /// The connections for what a payload needs besides its append: never occupied by questions.
    let payloadPool: PostgresPool
    /// The connection for the tokens of the service: every request needs them.
    let tokenPool: PostgresPool
    let spooledEventsMin: Int64
    /// The dictionaries that payloads are deflated with.
    let dictionaries: EvidenceDictionaries
    /// The folder of the files of moved payloads; nil for where each was written.
    let evidenceFolder: String?
    /// The time limits of writes.
    let limits: AppendLimits
    /// Whether ids are looked up in the directory of a distributed ledger (`LaneDirectory`).
    let hasDirectory: Bool
    /// How a batch becomes a plan.
    let making: PlanMaking
    /// The budget for keeping refused payloads.
    let rejectedBodies: Mutex<RejectedBodyBudget>
    let omittedRejections = Mutex<[Standing: OmittedRejections]>([:])
    /// Callers that mark refused payloads as accepted.
    let takenMarks = SharedCalls<TakenMark, Void>(sizeMax: EventLog.sharedDigestsMax)
    /// Callers that look payloads up.
    let knownPayloads = SharedCalls<[Digest], [Digest: Verification]>(
        sizeMax: EventLog.sharedDigestsMax
    )
    let appenders: [Appender]
    /// When the first commit was made; nil if that was not read yet.
    let firstCommit = Mutex<Instant?>(nil)

    /// Digests up to which callers share a statement; one caller may have more.
    private static let sharedDigestsMax = 2_000

    /// The most connections for what payloads need besides their append: callers share statements.
    private static let payloadSessionsMax = 2

    /// Options for opening a log.
    public struct Options: Sendable {
        /// The most connections for reading.
        public var readersMax = 4
        /// Connections that append.
        ///
        /// Lanes are distributed among them; more than one pays off above about sixty concurrent
        /// callers on several lanes.
        public var writers = 1
        /// Events from which on a lane is read through a temporary file; below that, its events are
        /// held in memory at once.
        public var spooledEventsMin: Int64 = 12_500
        /// Stamps commits instead of the server's clock: for tests and demonstrations.
        public var clock: (@Sendable () -> Instant)?
        /// How far our clock, or the newest commit, may be from the server's clock before appends
        /// are refused with `clockSkew`: clocks synchronised by NTP differ by milliseconds.
        public var clockSkewSecondsMax: Int64 = 300
        /// Seconds that an append may take from its call to its answer, including connecting and
        /// waiting; then it fails with `databaseUnavailable`.
        ///
        /// Long enough for a server that restarts, or recovers after a crash. Other writes of the
        /// log have the same limit. From 0.001 to 86 400; other values are clamped.
        public var appendSecondsMax = 60.0
        /// The most appends of one writer that may wait for the database before more are refused
        /// with `queueFull`; far more than `Ledger.ingest` leaves waiting.
        public var waitingAppendsMax = 10_000
        /// The most bytes of refused payloads that are kept if they are proven, slightly more if
        /// several processes write; a sixteenth of each other standing.
        public var rejectedBytesMax = RejectedPayload.allBodiesByteCountMax
        /// The folder of the files of moved payloads (`moveEvidence`), if it is not where they were
        /// written.
        public var evidenceFolder: String?
        /// Returns the salt of each row; a test can make it repeatable.
        package var salt: @Sendable () -> Salt = { .random() }

        /// The defaults.
        public init() {}
    }

    /// The most facts that one payload may bring into one lane: a receipt of a heavy user has
    /// thousands.
    package static let factsPerPayloadMax = 100_000

    /// Opens the ledger of a database; throws `notMigrated` if there is none.
    package static func open(
        _ settings: ConnectionSettings,
        _ options: Options = Options()
    ) async throws(EventLogError) -> EventLog {
        let pool = PostgresPool(settings, sessionsMax: options.readersMax)
        do {
            let (identity, dictionaries, answers) = try await pool.borrowing { session in
                (
                    try await Migrator.identity(of: session),
                    try await EvidenceDictionaries.read(from: session),
                    try await session.pipeline([
                        PostgresStatement(LaneDirectory.exists), PostgresStatement(durability),
                    ])
                )
            }
            return EventLog(
                pool,
                identity,
                dictionaries,
                hasDirectory: try answers[0].single().bool(0),
                durabilityFault: try answers[1].single().textIfPresent(0),
                settings,
                options
            )
        } catch {
            await pool.close()
            throw EventLog.error(error, doing: "open the ledger")
        }
    }

    private init(
        _ pool: PostgresPool,
        _ identity: LedgerIdentity,
        _ dictionaries: EvidenceDictionaries,
        hasDirectory: Bool,
        durabilityFault: String?,
        _ settings: ConnectionSettings,
        _ options: Options
    ) {
        self.pool = pool
        payloadPool = PostgresPool(settings, sessionsMax: EventLog.payloadSessionsMax)
        tokenPool = PostgresPool(settings, sessionsMax: 1)
        self.durabilityFault = durabilityFault
        self.settings = settings
        clockSkewSecondsMax = options.clockSkewSecondsMax
        self.identity = identity
        self.dictionaries = dictionaries
        self.hasDirectory = hasDirectory
        evidenceFolder = options.evidenceFolder
        readersMax = options.readersMax
        spooledEventsMin = options.spooledEventsMin

        let making = PlanMaking(
            clock: options.clock,
            clockSkewMillisecondsMax: options.clockSkewSecondsMax.multipliedReportingOverflow(
                by: 1000
            )
            .overflow ? .max : options.clockSkewSecondsMax * 1000,
            salt: options.salt
        )
        self.making = making
        rejectedBodies = Mutex(RejectedBodyBudget(limit: options.rejectedBytesMax))
        let limits = AppendLimits(
            secondsMax: options.appendSecondsMax,
            waitingMax: options.waitingAppendsMax
        )
        self.limits = limits
        appenders = (0..<max(1, options.writers)).map { _ in
            Appender(
                settings: settings,
                identity: identity,
                dictionaries: dictionaries,
                making: making,
                limits: limits
            )
        }
    }

    private static let durability = """
        SELECT CASE
            WHEN current_setting('fsync') = 'off'
                THEN 'fsync is off: a crash of the server can lose or damage the log'
            WHEN current_setting('full_page_writes') = 'off'
                THEN 'full_page_writes is off: a crash can damage pages that are half written' END
        """

    /// Appends the new ones among verified facts, with the payloads that prove them.
    ///
    /// Returns when everything is durable: for each element, one outcome per fact, in order. Facts
    /// of several lanes are in a commit for each lane; after an error some lanes may be durable, and
    /// the same call again completes the others.
    ///
    /// - Parameters:
    ///   - verified: As many as the caller holds; they wait in memory.
    ///   - known: The digests of payloads that the log is believed to contain: they are prepared
    ///     for storage only if something in them turns out to be new.
    /// - Returns: For each element, one outcome per fact.
    /// - Throws: `databaseUnavailable` if the database was not available within
    ///   `Options.appendSecondsMax`; the message says whether the append may have taken effect.
    ///   While the database is unavailable, further appends are refused after one short attempt.
    ///   `queueFull` if too many appends are waiting; then nothing was written to the lanes that
    ///   had no room.
    package func append(
        _ verified: [Verified<[Fact]>],
        known: Set<Digest> = []
    ) async throws(EventLogError) -> [[AppendOutcome]] {
        var places: [Int: [(element: Int, indexes: [Int])]] = [:]
        var waiting: [Int: [Submission]] = [:]
        var isShared = false
        for (element, verified) in verified.enumerated() {
            let parts = try submissions(of: verified, known: known)
            isShared = isShared || parts.count > 1
            for (lane, submission, indexes) in parts {
                places[lane, default: []].append((element, indexes))
                waiting[lane, default: []].append(submission)
            }
        }
        var outcomes = verified.map { [AppendOutcome?](repeating: nil, count: $0.value.count) }
        for (lane, appended) in try await append(waiting, atOnce: !isShared) {
            for (place, appended) in zip(places[lane, default: []], appended) {
                for (index, outcome) in zip(place.indexes, appended) {
                    outcomes[place.element][index] = outcome
                }
            }
        }
        return outcomes.map { $0.compactMap { $0 } }
    }

    // At once, because the next commit of each lane then has what every caller brings to it; but a
    // payload of several lanes waits in one queue at a time, or its bytes would count several times.
    private func append(
        _ waiting: [Int: [Submission]],
        atOnce: Bool
    ) async throws(EventLogError) -> [Int: [[AppendOutcome]]] {
        let deadline = limits.deadline()
        var appended: [Int: [[AppendOutcome]]] = [:]
        guard atOnce, waiting.count > 1 else {
            for (lane, submissions) in waiting.sorted(by: { $0.key < $1.key }) {
                let appender = appenders[lane % appenders.count]
                appended[lane] = try await appender.append(submissions, to: lane, by: deadline)
                    .get()
            }
            return appended
        }
        let results = await withTaskGroup { group in
            for (lane, submissions) in waiting {
                let appender = appenders[lane % appenders.count]
                group.addTask { (lane, await appender.append(submissions, to: lane, by: deadline)) }
            }
            var results: [Int: Result<[[AppendOutcome]], EventLogError>] = [:]
            for await (lane, result) in group { results[lane] = result }
            return results
        }
        for (lane, result) in results.sorted(by: { $0.key < $1.key }) {
            appended[lane] = try result.get()
        }
        return appended
    }

    /// The same for one payload.
    package func append(
        _ verified: Verified<[Fact]>
    ) async throws(EventLogError) -> [AppendOutcome] {
        try await append([verified])[0]
    }

    /// The dictionary that new payloads are deflated with; nil if the ledger has none.
    package var evidenceDictionary: EvidenceDictionary? { dictionaries.newest }

    /// What payloads are restored from, besides their rows.
    var evidenceSources: EvidenceSources {
        EvidenceSources(
            dictionaries: dictionaries,
            ledgerId: identity.ledgerId,
            folder: evidenceFolder
        )
    }

    func append(
        _ submission: Submission,
        to lane: Int
    ) async throws(EventLogError) -> [AppendOutcome] {
        try await appenders[lane % appenders.count].append(
            [submission],
            to: lane,
            by: limits.deadline()
        ).get()[0]
    }

    /// The submissions to each lane, with the indexes of their facts.
    func submissions(
        of verified: Verified<[Fact]>,
        known: Set<Digest> = []
    ) throws(EventLogError) -> [(lane: Int, Submission, indexes: [Int])] {
        let facts = verified.value
        guard facts.count <= EventLog.factsPerPayloadMax else {
            throw EventLogError(
                .tooManyFacts,
                "payload \(verified.evidence.digest) contains \(facts.count) facts; the limit is "
                    + "\(EventLog.factsPerPayloadMax)"
            )
        }

        let (payload, dictionary) = (verified.evidence.payload, dictionaries.newest)
        let packing: Submission.Packing =
            known.contains(verified.evidence.digest)
            ? .whenStored(dictionary)
            : .packed(EvidencePacking.pack(payload, dictionary: dictionary))
        let record = verified.evidence.recordDigest
        var indexes: [Int: [Int]] = [:]
        for (index, fact) in facts.enumerated() {
            let lane = identity.lanes.lane(of: fact.stream.originalTransactionId)
            indexes[lane, default: []].append(index)
        }

        return indexes.map { lane, here in
            let submission = Submission(
                evidence: verified.evidence,
                recordDigest: record,
                packing: packing,
                facts: here.map { PreparedFact(facts[$0]) },
                elsewhere: indexes.count == 1
                    ? []
                    : indexes.filter { $0.key != lane }.values.joined().map { facts[$0].stream }
            )
            return (lane, submission, here)
        }
    }

    /// Fails all appends still waiting after this duration, and all later ones.
    ///
    /// For a program that was asked to stop: what the database has not accepted by then fails with
    /// `databaseUnavailable`. Once set, the end can only be moved earlier.
    package func giveUpAppends(after duration: Duration) { limits.end.end(after: duration) }

    /// Finishes the appends already submitted and closes all connections.
    ///
    /// Returns at the latest when the deadline of the last append has passed
    /// (`Options.appendSecondsMax`).
    package func close() async {
        for appender in appenders { await appender.close() }
        for pool in [pool, payloadPool, tokenPool] { await pool.close() }
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
