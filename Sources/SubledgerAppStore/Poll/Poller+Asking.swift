internal import EventLog
internal import Events
internal import Subledger

/// The result for one subject.
enum PollOutcome: Sendable {
    case answered(TakenAnswers)
    case skipped
    case failed(ServerError, TakenAnswers)
}

extension Poller {
    /// Asks about due subscriptions, several at once, in order.
    ///
    /// - Parameters:
    ///   - subjects: The subscriptions.
    ///   - pauseSeconds: Seconds since the last answer before which nothing is asked; nil for a
    ///     pause by urgency.
    ///   - report: Takes the results.
    ///   - watch: Observes the run, and may end it.
    /// - Returns: Whether it ended early: stopped, rate limited, or without answers.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    @discardableResult func ask(
        _ subjects: [PollSubject],
        pauseSeconds: Double? = nil,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        let now = clock()
        let pauses = Dictionary(
            subjects.map { ($0.stream, pauseSeconds ?? pause(of: $0, at: now)) },
            uniquingKeysWith: min
        )
        return try await askEach(subjects.map(\.stream), &report, watch) { stream in
            try await ask(stream, pauseSeconds: pauses[stream] ?? PollPause.plainSeconds)
        }
    }

    /// Asks about subscriptions, several at once, in order.
    ///
    /// - Returns: Whether it ended early: stopped, rate limited, or without answers.
    @discardableResult func ask(
        _ streams: [StreamID],
        pauseSeconds: Double,
        marksRefusals: Bool = true,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        try await askEach(streams, &report, watch) { stream in
            try await ask(stream, pauseSeconds: pauseSeconds, marksRefusals: marksRefusals)
        }
    }

    /// Asks about ids named by the operator: whole histories, in whichever environment knows them.
    ///
    /// - Returns: Whether it ended early.
    @discardableResult func ask(
        _ ids: [String],
        withNotifications: Bool = false,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        let subjects = ids.map { StreamID(environment: .production, originalTransactionId: $0) }
        return try await askEach(subjects, &report, watch) { subject in
            try await askAnywhere(
                subject.originalTransactionId,
                withNotifications: withNotifications
            )
        }
    }

    private func askEach(
        _ subjects: [StreamID],
        _ report: inout PollReport,
        _ watch: PollWatch,
        _ ask: @escaping @Sendable (StreamID) async throws -> PollOutcome
    ) async throws -> Bool {
        var (begun, done, unavailable) = (0, 0, 0)
        var isEnding = false
        try await withThrowingTaskGroup(of: (StreamID, PollOutcome).self) { group in
            while true {
                while begun - done < options.concurrency, begun < subjects.count, !isEnding,
                    !watch.isStopped()
                {
                    let subject = subjects[begun]
                    begun += 1
                    group.addTask { (subject, try await ask(subject)) }
                }
                guard let (subject, outcome) = try await group.next() else { break }
                done += 1
                isEnding = try note(outcome, of: subject, in: &report, &unavailable) || isEnding
                watch.progress(.subscriptions(done, of: subjects.count))
            }
        }
        report.left += subjects.count - begun
        return isEnding || begun < subjects.count
    }

    // True if the round should end.
    private func note(
        _ outcome: PollOutcome,
        of subject: StreamID,
        in report: inout PollReport,
        _ unavailable: inout Int
    ) throws -> Bool {
        switch outcome {
        case .answered(let taken):
            unavailable = 0
            report.answered += 1
            report.missedNotifications += taken.notifications
            report.newNotifications += taken.newNotifications
            if taken.appended > 0 { report.withNews += 1 }
            report.add(taken)
            return false
        case .skipped:
            report.skipped += 1
            return false
        case .failed(let error, let taken):
            report.add(taken)
            if error.code == .credentials { throw error }
            if error.code == .rateLimited {
                report.wait(until: error.retryAt)
                report.left += 1
                return true
            }
            report.fail(subject, error.code.rawValue, error.message)
            unavailable += error.code == .unavailable || error.code == .timedOut ? 1 : 0
            return unavailable >= options.unavailableMax
        }
    }

    // For later selections a refusal counts as an answer, because Apple will refuse again.
    private func ask(
        _ stream: StreamID,
        pauseSeconds: Double,
        marksRefusals: Bool = true
    ) async throws -> PollOutcome {
        guard let lease = try await lease(on: stream, pauseSeconds: pauseSeconds) else {
            return .skipped
        }
        var taken = TakenAnswers()
        do {
            let statuses = try await client.answer(
                to: .subscriptionStatuses(stream.originalTransactionId),
                in: stream.environment
            )
            try await take(statuses, into: &taken)
            let revision = try await takeHistory(of: stream, from: lease.continuation, &taken)
            // What could not be verified is requested again.
            try await end(lease, at: taken.rejected > 0 ? nil : revision, isAnswered: true)
            try await noteOthers(than: stream, in: taken)
            return .answered(taken)
        } catch let error as ServerError {
            taken.add(error)
            try await end(lease, at: nil, isAnswered: error.code == .refused && marksRefusals)
            return .failed(error, taken)
        }
    }

    private func askAnywhere(
        _ id: String,
        withNotifications: Bool
    ) async throws -> PollOutcome {
        var taken = TakenAnswers()
        do {
            let statuses = try await client.answer(to: .subscriptionStatuses(id))
            try await take(statuses, into: &taken)
            let environment = statuses.environment
            _ = try await takeHistory(of: id, from: nil, in: environment, &taken)
            try await noteOthers(than: nil, in: taken)
            if withNotifications {
                try await takeNotifications(about: id, in: environment, &taken)
            }
            return .answered(taken)
        } catch let error as ServerError {
            taken.add(error)
            return .failed(error, taken)
        }
    }

    // Statuses and history cover the whole customer, so the other subscriptions and purchases are
    // done too.
    private func noteOthers(than stream: StreamID?, in taken: TakenAnswers) async throws {
        guard taken.rejected == 0 else { return }
        var others = taken.streams
        if let stream { others.remove(stream) }
        try await ledger.log.recordAnswered(others)
    }

    // Apple may refuse the revision of an earlier answer; the whole history is then requested.
    private func takeHistory(
        of stream: StreamID,
        from revision: String?,
        _ taken: inout TakenAnswers
    ) async throws -> String? {
        let id = stream.originalTransactionId
        do {
            return try await takeHistory(of: id, from: revision, in: stream.environment, &taken)
        } catch let error as ServerError where error.code == .refused && revision != nil {
            return try await takeHistory(of: id, from: nil, in: stream.environment, &taken)
        }
    }

    private func takeHistory(
        of id: String,
        from revision: String?,
        in environment: StoreEnvironment,
        _ taken: inout TakenAnswers
    ) async throws -> String? {
        try await client.forEachPage(
            of: .transactionHistory(id),
            from: revision,
            in: environment
        ) { page in
            try await take(page, into: &taken)
        }
    }
}

/// What polls and imports of histories share: the leases under which Apple is asked.
protocol LeaseHolder: Sendable {
    var ledger: Ledger { get }
    /// A unique name.
    var holder: String { get }
    /// Seconds after which another process may take over from a silent one.
    var leaseSeconds: Double { get }
}

extension LeaseHolder {
    func lease(on subject: StreamID, pauseSeconds: Double) async throws -> PollLease? {
        try await ledger.log.takePollLease(
            on: subject,
            holder: holder,
            seconds: leaseSeconds,
            pause: pauseSeconds
        )
    }

    func end(_ lease: PollLease, at continuation: String?, isAnswered: Bool) async throws {
        try await ledger.log.end(
            lease,
            holder: holder,
            continuation: continuation,
            isAnswered: isAnswered
        )
    }
}

extension Poller: LeaseHolder {
    var holder: String { options.holder }
    var leaseSeconds: Double { options.leaseSeconds }

    // An answer without statements is not a payload. If an answer is refused, the ledger keeps it
    // and its signed statements are taken one by one, so one bad statement does not affect the
    // others.
    func take(_ answer: ServerAnswer, into taken: inout TakenAnswers) async throws {
        taken.add(answer)
        guard answer.statementCount > 0 else { return }
        let whole = try await taken.ingest(answer.payload, into: ledger, receivedAt: clock())
        guard whole == nil else { return }
        for part in answer.parts {
            _ = try await taken.ingest(part, into: ledger, receivedAt: clock())
        }
    }
}
