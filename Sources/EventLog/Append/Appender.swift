internal import Events
internal import Postgres

/// Writes the lanes assigned to it, one commit after another.
///
/// Group commit: whatever queued while the last commit was flushing is the next batch; there is no
/// timer. Optimistic: it keeps each lane's head in memory, and the primary key of `commit` refuses
/// a batch that was decided against a head that is no longer the newest; then it reads the head and
/// decides again (Decisions: optimistic append).
actor Appender {
    let settings: ConnectionSettings
    let identity: LedgerIdentity
    let dictionaries: EvidenceDictionaries
    /// How a batch becomes a plan.
    let making: PlanMaking
    /// How long an append may take.
    let limits: AppendLimits
    /// The connection; nil before the first batch and after the connection was lost.
    var session: PostgresSession?
    /// The offset of the head when the session's plans were made; nil before there are any.
    var plannedOffset: Int64?
    /// By lane, the parts shared by payloads that are known to be stored; cleared when it exceeds a
    /// limit.
    var stored: [Int: SharedParts] = [:]
    /// The number of commits made.
    private(set) var commitCount: Int64 = 0
    /// Appends that were answered because a commit was made, or because they contained nothing new.
    private(set) var appendCount: Int64 = 0
    private var heads: [Int: LaneHead] = [:]
    private var queue = AppendQueue()
    /// Whether the database was unavailable for the last batch.
    private var isUnavailable = false
    /// What the last batches showed about the database.
    var signs = AppendSigns()
    /// Whether followers are still to be woken, and when they last were.
    var isWakeDue = false
    var wokeAt: ContinuousClock.Instant?
    private var isDraining = false
    private var isClosed = false
    private var closing: [CheckedContinuation<Void, Never>] = []

    /// The most facts in a commit: beyond this, the look-up and the insert gain nothing from size.
    static let batchFactsMax = 2000

    /// The most bytes in a commit, packed payloads included: the most that a caller's append may
    /// have to be flushed together with.
    static let batchBytesMax = 1 << 20

    /// Events up to which any plan of the look-up is fast.
    static let planRowsMin: Int64 = 50

    /// Lost races for the next offset that a batch may have; after one more the writer locks the
    /// lane's row for its next attempt.
    static let lostRacesMax = 2

    /// The most turns given to callers to return while their number keeps growing.
    static let turnsMax = 16

    /// Lost races of one batch after which its callers get an error.
    static let lostRacesAtOnceMax = 60

    init(
        settings: ConnectionSettings,
        identity: LedgerIdentity,
        dictionaries: EvidenceDictionaries,
        making: PlanMaking,
        limits: AppendLimits
    ) {
        self.settings = settings
        self.identity = identity
        self.dictionaries = dictionaries
        self.making = making
        self.limits = limits
    }

    /// Appends the new facts of the submissions in one commit; returns when it is durable, or when
    /// the deadline has passed.
    func append(
        _ submissions: [Submission],
        to lane: Int,
        by deadline: Deadline
    ) async -> Result<[[AppendOutcome]], EventLogError> {
        guard !isClosed else {
            return .failure(
                EventLogError(.closed, "append: the event log is closed; open it again")
            )
        }
        let bytes = submissions.reduce(0) { $0 + $1.byteCount }
        guard queue.hasRoom(forBytes: bytes, limits: limits) else { return .failure(fullQueue()) }
        return await withCheckedContinuation { answer in
            queue.add(
                WaitingAppend(submissions: submissions, deadline: deadline, answer: answer),
                to: lane
            )
            guard !isDraining else { return }
            isDraining = true
            Task { await self.drain() }
        }
    }

    private func fullQueue() -> EventLogError {
        EventLogError(
            .queueFull,
            "append: too many appends wait for the database: \(queue.count) with "
                + "\(queue.byteCount) bytes (limits: at most \(limits.waitingMax) appends and "
                + "\(AppendLimits.waitingBytesMax) bytes); nothing of this one was written. Try "
                + "again later, or append from fewer tasks at once"
        )
    }

    /// Refuses new work, finishes or (at the deadline) refuses waiting appends, and disconnects.
    func close() async {
        isClosed = true
        if isDraining { await withCheckedContinuation { closing.append($0) } }
        await notifyIfDue()
        await session?.close()
        session = nil
    }

    private func drain() async {
        while let (lane, batch) = queue.takeBatch() {
            await commit(batch, to: lane)
            await letCallersReturn()
        }
        isDraining = false
        for waiting in closing { waiting.resume() }
        closing = []
    }

    // The callers of a batch that was just committed are about to return. Without these turns, the
    // next commit misses them, and two halves of the callers keep waiting for each other's commits.
    private func letCallersReturn() async {
        var queued = -1
        for _ in 0..<Appender.turnsMax {
            guard queue.count != queued else { return }
            queued = queue.count
            await Task.yield()
        }
    }

    private func commit(_ batch: [WaitingAppend], to lane: Int) async {
        signs.begin()
        let outcome = await outcomes(of: batch, in: lane)
        signs.end(outcome.error)
        switch outcome {
        case .done(let outcomes):
            isUnavailable = false
            appendCount += Int64(batch.count)
            var start = 0
            for waiting in batch {
                let end = start + waiting.submissions.count
                waiting.answer.resume(returning: .success(Array(outcomes[start..<end])))
                start = end
            }
        case .refused(let error) where batch.count > 1 && !error.isRetryable:
            isUnavailable = false
            // One bad payload must not fail the others in its batch: each gets a commit of its own.
            for waiting in batch { await commit([waiting], to: lane) }
        case .refused(let error):
            isUnavailable = false
            for waiting in batch { waiting.answer.resume(returning: .failure(error)) }
        case .unavailable(let error, let others):
            isUnavailable = true
            for waiting in batch { waiting.answer.resume(returning: .failure(error)) }
            for waiting in queue.takeAll() { waiting.answer.resume(returning: .failure(others)) }
        }
    }

    private enum BatchOutcome {
        case done([[AppendOutcome]])
        case refused(EventLogError)
        /// The database was not available in time: the errors for the batch, and for the appends
        /// waiting behind it.
        case unavailable(EventLogError, others: EventLogError)

        var error: EventLogError? {
            switch self {
            case .done: nil
            case .refused(let error), .unavailable(let error, _): error
            }
        }
    }

    private func outcomes(of waiting: [WaitingAppend], in lane: Int) async -> BatchOutcome {
        let batch = waiting.flatMap(\.submissions)
        // The batch ends at the earliest deadline of its appends.
        var deadline = waiting.dropFirst().reduce(waiting[0].deadline) {
            $0.capped(by: $1.deadline)
        }
        if isUnavailable {
            deadline = deadline.capped(after: .seconds(AppendLimits.probeSecondsMax))
        }
        var (attempt, lostRaces, mayBeWritten) = (0, 0, false)
        // The last attempt may only have lacked time.
        var earlier: EventLogError?

        while true {
            do throws(AppenderFailure) {
                let lookUp = AppendLookUp(batch, lane: lane, of: identity.lanes)
                let plan = try await attemptOnce(
                    lookUp,
                    batch,
                    in: lane,
                    locking: lostRaces > Appender.lostRacesMax,
                    by: deadline
                )
                return .done(plan.outcomes)
            } catch {
                heads[lane] = nil
                switch error {
                case .lostRace:
                    lostRaces += 1
                    guard lostRaces < Appender.lostRacesAtOnceMax else {
                        return .refused(Appender.alwaysLate(lane))
                    }
                case .catalogTaken:
                    return .refused(Appender.catalogTaken)
                case .sharedPartTaken:
                    if let fault = await sharedPartFault(of: batch, in: lane, by: deadline) {
                        return .refused(fault)
                    }
                case .connectionLost(let cause, let isUnknown):
                    // A server that comes back may have lost commits of every lane: a replica that
                    // lagged.
                    heads = [:]
                    stored = [:]
                    mayBeWritten = mayBeWritten || isUnknown
                    guard !isUnavailable, !deadline.isPassed else {
                        return unavailable(earlier ?? cause, mayBeWritten: mayBeWritten)
                    }
                    earlier = cause
                    await AppendLimits.backOff(attempt: attempt)
                    attempt += 1
                case .refused(let cause):
                    return .refused(cause)
                }
            }
        }
    }

    private func unavailable(_ cause: EventLogError, mayBeWritten: Bool) -> BatchOutcome {
        let fate =
            mayBeWritten
            ? "The append may have taken effect: append it again, nothing is written twice"
            : "Nothing was written; try again later"
        let limit = "an append may take \(limits.secondsText) s; \(AppendLimits.variable) sets this"
        return .unavailable(
            EventLogError(
                cause.code,
                "\(cause.message) The append timed out (\(limit)). \(fate)"
            ),
            others: EventLogError(
                cause.code,
                "append: the database was unavailable for the append before this one, and "
                    + "nothing of this one was written; try again later. \(cause.message)"
            )
        )
    }

    private static func alwaysLate(_ lane: Int) -> EventLogError {
        EventLogError(
            .databaseUnavailable,
            "append: other writers of lane \(lane) committed first \(lostRacesAtOnceMax) times in "
                + "a row; nothing was written. Try again"
        )
    }

    private static let catalogTaken = EventLogError(
        .catalogTaken,
        "append: another import used the number of this catalog version first; nothing was "
            + "written. Import it again"
    )

    private func attemptOnce(
        _ lookUp: AppendLookUp,
        _ batch: [Submission],
        in lane: Int,
        locking: Bool,
        by deadline: Deadline
    ) async throws(AppenderFailure) -> AppendPlan {
        if locking {
            let plan = try await commitLocked(
                lookUp,
                batch,
                lane: lane,
                genesis: identity.genesis(lane: lane),
                by: deadline
            )
            note(plan, in: lane)
            return plan
        }
        let head: LaneHead
        if let known = heads[lane] {
            head = known
        } else {
            head = try await readHead(
                of: lane,
                genesis: identity.genesis(lane: lane),
                by: deadline
            )
            heads[lane] = head
        }
        let plan = try await commitOptimistic(lookUp, batch, head: head, by: deadline)
        note(plan, in: lane)
        return plan
    }

    private func note(_ plan: AppendPlan, in lane: Int) {
        guard !plan.isEmpty else { return }
        heads[lane] = plan.head
        commitCount += 1
        signs.committed()
        wakeFollowers()
    }

    /// Appends that wait for a commit.
    var waitingCount: Int { queue.count }
}

/// Why an attempt at a batch did not commit.
enum AppenderFailure: Error {
    /// Another writer took the next offset.
    case lostRace
    /// Another import took the number of a version of the catalog.
    case catalogTaken
    /// The lane has something else under the key of a segment or of a root certificate.
    case sharedPartTaken
    /// The connection was lost, or the deadline passed; with `isUnknown` the batch may or may not
    /// be durable, and the keys will decide.
    case connectionLost(EventLogError, isUnknown: Bool)
    /// The database would refuse it again.
    case refused(EventLogError)
}
