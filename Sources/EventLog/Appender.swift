internal import Events
internal import Postgres

/// Writes the lanes it is given, one commit after another.
///
/// Group commit: whatever queued while the last commit was flushing is the next batch; there is no
/// timer. Optimistic: it keeps each lane's head in memory, and the primary key of `commit` refuses a
/// batch that was decided against a head that is no longer the newest; then it reads the head and
/// decides again (DESIGN §4).
actor Appender {
    let settings: ConnectionSettings
    let identity: LedgerIdentity
    /// How a batch becomes a plan.
    let making: PlanMaking
    /// The connection; nil before the first batch and after a loss.
    var session: PostgresSession?
    /// The head for which the session's plans were made; nil before there are any.
    var plannedOffset: Int64?
    /// By lane, what payloads share and is known to be stored; emptied when it grows over a limit.
    var stored: [Int: SharedParts] = [:]
    private var heads: [Int: LaneHead] = [:]
    private var queues: [Int: [Waiting]] = [:]
    private var order: [Int] = []
    private var isDraining = false
    private var isClosed = false
    private var closing: [CheckedContinuation<Void, Never>] = []

    private struct Waiting {
        let submissions: [Submission]
        let answer: CheckedContinuation<Result<[[AppendOutcome]], EventLogError>, Never>
    }

    /// Most facts in a commit: above it the look-up and the insert gain nothing by being larger.
    static let batchFactsMax = 2000

    /// Most bytes in a commit, packed payloads included: what a waiting caller's commit may have
    /// to be flushed together with.
    static let batchBytesMax = 1 << 20

    /// Events up to which any plan of the look-up is quick.
    static let planRowsMin: Int64 = 50

    /// Lost races for the next offset after which a writer asks for the lane's row lock.
    static let lostRacesMax = 2

    /// Turns that callers get to come back while more and more of them do.
    static let turnsMax = 16

    /// Attempts at one batch, lost races and lost connections together, before its callers are
    /// told that the database is unavailable.
    static let attemptsMax = 60

    init(
        settings: ConnectionSettings,
        identity: LedgerIdentity,
        making: PlanMaking
    ) {
        self.settings = settings
        self.identity = identity
        self.making = making
    }

    /// Appends what is news in the submissions, in one commit; returns when it is durable.
    func append(
        _ submissions: [Submission],
        to lane: Int
    ) async throws(EventLogError)
        -> [[AppendOutcome]]
    {
        guard !isClosed else {
            throw EventLogError(.closed, "the event log was closed; open it again to append")
        }
        let result = await withCheckedContinuation { answer in
            if queues[lane, default: []].isEmpty { order.append(lane) }
            queues[lane, default: []].append(Waiting(submissions: submissions, answer: answer))
            guard !isDraining else { return }
            isDraining = true
            Task { await self.drain() }
        }
        return try result.get()
    }

    /// Refuses new work, finishes what waits, and closes the connection.
    func close() async {
        isClosed = true
        if isDraining { await withCheckedContinuation { closing.append($0) } }
        await session?.close()
        session = nil
    }

    private func drain() async {
        while let lane = order.first {
            order.removeFirst()
            let batch = takeBatch(of: lane)
            if queues[lane]?.isEmpty == false { order.append(lane) }
            await commit(batch, to: lane)
            await letCallersReturn()
        }
        isDraining = false
        for waiting in closing { waiting.resume() }
        closing = []
    }

    // The callers of a batch that was just committed are about to come back. Without these turns the
    // next commit takes only those that queued meanwhile, and two halves of the callers wait for each
    // other's commits for ever.
    private func letCallersReturn() async {
        var queued = -1
        for _ in 0..<Appender.turnsMax {
            let count = queues.values.reduce(0) { $0 + $1.count }
            guard count != queued else { return }
            queued = count
            await Task.yield()
        }
    }

    private func takeBatch(of lane: Int) -> [Waiting] {
        let queue = queues[lane, default: []]
        var facts = 0
        var bytes = 0
        var count = 0
        for waiting in queue {
            facts += waiting.submissions.reduce(0) { $0 + $1.facts.count }
            bytes += waiting.submissions.reduce(0) { $0 + $1.byteCount }
            if count > 0, facts > Appender.batchFactsMax || bytes > Appender.batchBytesMax { break }
            count += 1
        }
        queues[lane]?.removeFirst(count)
        return Array(queue.prefix(count))
    }

    private func commit(_ batch: [Waiting], to lane: Int) async {
        let result = await outcomes(of: batch.flatMap(\.submissions), in: lane)
        switch result {
        case .success(let outcomes):
            var start = 0
            for waiting in batch {
                let end = start + waiting.submissions.count
                waiting.answer.resume(returning: .success(Array(outcomes[start..<end])))
                start = end
            }
        case .failure(let error) where batch.count > 1 && !error.isRetryable:
            // One bad payload must not fail its neighbours: each gets a commit of its own.
            for waiting in batch { await commit([waiting], to: lane) }
        case .failure(let error):
            for waiting in batch { waiting.answer.resume(returning: .failure(error)) }
        }
    }

    private func outcomes(
        of batch: [Submission],
        in lane: Int
    ) async -> Result<[[AppendOutcome]], EventLogError> {
        var lostRaces = 0
        var failure = EventLogError(
            .databaseUnavailable,
            "append: other writers of lane \(lane) were faster \(Appender.attemptsMax) times in a "
                + "row; nothing was written, try again"
        )
        for attempt in 0..<Appender.attemptsMax {
            do throws(AppenderFailure) {
                let lookUp = AppendLookUp(batch, lane: lane, of: identity.lanes)
                let plan = try await attemptOnce(
                    lookUp,
                    batch,
                    in: lane,
                    locking: lostRaces > Appender.lostRacesMax
                )
                return .success(plan.outcomes)
            } catch {
                heads[lane] = nil
                switch error {
                case .lostRace:
                    lostRaces += 1
                case .catalogTaken:
                    return .failure(
                        EventLogError(
                            .catalogueTaken,
                            "append: another import took the number of this version of the "
                                + "catalog; nothing was written, import it again"
                        )
                    )
                case .connectionLost(let cause):
                    // What comes back may have lost commits of every lane: a replica that lagged.
                    heads = [:]
                    stored = [:]
                    failure = cause
                    await backOff(attempt: attempt)
                case .refused(let cause):
                    return .failure(cause)
                }
            }
        }
        return .failure(failure)
    }

    private func attemptOnce(
        _ lookUp: AppendLookUp,
        _ batch: [Submission],
        in lane: Int,
        locking: Bool
    ) async throws(AppenderFailure) -> AppendPlan {
        if locking {
            let plan = try await commitLocked(
                lookUp,
                batch,
                lane: lane,
                genesis: identity.genesis(lane: lane)
            )
            if !plan.isEmpty { heads[lane] = plan.head }
            return plan
        }
        let head: LaneHead
        if let known = heads[lane] {
            head = known
        } else {
            head = try await readHead(of: lane, genesis: identity.genesis(lane: lane))
            heads[lane] = head
        }
        let plan = try await commitOptimistic(lookUp, batch, head: head)
        if !plan.isEmpty { heads[lane] = plan.head }
        return plan
    }
}

/// Why an attempt at a batch did not commit.
enum AppenderFailure: Error {
    /// Another writer took the next offset.
    case lostRace
    /// Another import took the number of a version of the catalog.
    case catalogTaken
    /// The connection went away; the batch may or may not be durable: the keys will decide.
    case connectionLost(EventLogError)
    /// The database will refuse it again.
    case refused(EventLogError)
}
