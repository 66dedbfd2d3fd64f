internal import AppStore
internal import EventLog
internal import Events
internal import Subledger

/// What became of one subject.
private enum PollOutcome: Sendable {
    case answered(TakenAnswers)
    case skipped
    case failed(ServerError, TakenAnswers)
}

extension Poller {
    /// Asks about subjects, several at once, in their order.
    func ask(
        _ subjects: [PollSubject],
        _ report: inout PollReport,
        _ isStopped: @escaping @Sendable () -> Bool,
        _ progress: (Int, Int) -> Void
    ) async throws {
        try await askEach(subjects.map(\.stream), &report, isStopped, progress) { stream in
            try await ask(stream)
        }
    }

    /// Asks about ids that a person named: whole histories, of whichever environment knows them.
    func ask(
        _ ids: [String],
        _ report: inout PollReport,
        _ isStopped: @escaping @Sendable () -> Bool,
        _ progress: (Int, Int) -> Void
    ) async throws {
        let subjects = ids.map { StreamID(environment: .production, originalTransactionId: $0) }
        try await askEach(subjects, &report, isStopped, progress) { subject in
            try await askAnywhere(subject.originalTransactionId)
        }
    }

    private func askEach(
        _ subjects: [StreamID],
        _ report: inout PollReport,
        _ isStopped: @escaping @Sendable () -> Bool,
        _ progress: (Int, Int) -> Void,
        _ ask: @escaping @Sendable (StreamID) async throws -> PollOutcome
    ) async throws {
        var (begun, done, unavailable) = (0, 0, 0)
        var isEnding = false
        try await withThrowingTaskGroup(of: (StreamID, PollOutcome).self) { group in
            while true {
                while begun - done < options.concurrency, begun < subjects.count, !isEnding,
                    !isStopped()
                {
                    let subject = subjects[begun]
                    begun += 1
                    group.addTask { (subject, try await ask(subject)) }
                }
                guard let (subject, outcome) = try await group.next() else { break }
                done += 1
                isEnding = try note(outcome, of: subject, in: &report, &unavailable) || isEnding
                progress(done, subjects.count)
            }
        }
        report.left += subjects.count - begun
    }

    // True where the round had better end.
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
                report.retryAt = max(report.retryAt ?? .epoch, error.retryAt ?? .epoch)
                report.left += 1
                return true
            }
            report.fail(subject, error.code.rawValue, error.message)
            unavailable += error.code == .unavailable || error.code == .timedOut ? 1 : 0
            return unavailable >= options.unavailableMax
        }
    }

    private func ask(_ stream: StreamID) async throws -> PollOutcome {
        guard let lease = try await lease(on: stream) else { return .skipped }
        var taken = TakenAnswers()
        do {
            let statuses = try await client.answer(
                to: .subscriptionStatuses(stream.originalTransactionId),
                in: stream.environment
            )
            try await take(statuses, into: &taken)
            let revision = try await takeHistory(of: stream, from: lease.continuation, &taken)
            // What was not verified is asked for again.
            try await end(lease, at: taken.rejected > 0 ? nil : revision, isAnswered: true)
            return .answered(taken)
        } catch let error as ServerError {
            taken.requests += error.errorCode == nil ? 0 : 1
            try await end(lease, at: nil, isAnswered: error.code == .refused)
            return .failed(error, taken)
        }
    }

    private func askAnywhere(_ id: String) async throws -> PollOutcome {
        var taken = TakenAnswers()
        do {
            let statuses = try await client.answer(to: .subscriptionStatuses(id))
            try await take(statuses, into: &taken)
            _ = try await takeHistory(of: id, from: nil, in: statuses.environment, &taken)
            return .answered(taken)
        } catch let error as ServerError {
            taken.requests += error.errorCode == nil ? 0 : 1
            return .failed(error, taken)
        }
    }

    // Apple may refuse the revision of an earlier answer: then the whole history is asked for.
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
        in environment: Environment,
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

extension Poller {
    func lease(on subject: StreamID) async throws -> PollLease? {
        try await ledger.log.takePollLease(
            on: subject,
            holder: options.holder,
            seconds: options.leaseSeconds,
            pause: options.pauseSeconds
        )
    }

    func end(
        _ lease: PollLease,
        at continuation: String?,
        isAnswered: Bool
    ) async throws {
        try await ledger.log.end(
            lease,
            holder: options.holder,
            continuation: continuation,
            isAnswered: isAnswered
        )
    }

    // An answer without statements is no payload. One that is refused is kept by the ledger.
    func take(_ answer: ServerAnswer, into taken: inout TakenAnswers) async throws {
        taken.requests += 1
        taken.statements += answer.statementCount
        guard answer.statementCount > 0 else { return }
        do {
            let ingestion = try await ledger.ingest(
                answer.payload,
                source: Poller.source,
                receivedAt: clock(),
                voucher: .client
            )
            taken.add(ingestion)
        } catch is Rejection {
            taken.rejected += 1
        }
    }
}
