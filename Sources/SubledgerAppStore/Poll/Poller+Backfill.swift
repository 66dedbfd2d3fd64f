internal import EventLog
public import Events
internal import Subledger

/// What a backfill should complete.
public enum BackfillScope: Hashable, Sendable {
    /// Every notification that Apple has signed since then, and the customers whose charge is due.
    case since(Instant)
    /// Every notification that Apple still has, and every customer.
    case all
    /// The notifications and the history of these customers, by any of their transaction ids.
    case ids([String])
}

/// The result of a backfill.
public struct BackfillReport: Codable, Hashable, Sendable {
    /// The span of each environment; empty if ids were requested.
    public internal(set) var spans: [Span] = []
    /// Whether everything was requested; otherwise the same command continues where it ended.
    public internal(set) var isComplete = false
    /// The result of the requests.
    public internal(set) var asked = PollReport()

    /// The span of notifications of one environment.
    public struct Span: Codable, Hashable, Sendable {
        /// Where the purchases were made.
        public let environment: StoreEnvironment
        /// Where it begins: not before Apple's oldest notification.
        public let since: Instant
        /// Whether an interrupted run was continued.
        public let isResumed: Bool
    }
}

extension Poller {
    /// Completes the ledger with what Apple still knows.
    ///
    /// Unlike a round, it reads every notification of its span, not only those that did not reach
    /// the server, so it also finds what a restored backup lacks. Its progress is kept in
    /// `operation.backfill`. Several processes share the work; nothing is requested twice.
    ///
    /// - Parameters:
    ///   - scope: What to complete.
    ///   - isStopped: Called between two requests; true ends the backfill, to be continued later.
    ///   - progress: Receives the progress so far.
    /// - Returns: The report of the backfill.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func backfill(
        _ scope: BackfillScope,
        isStopped: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (PollProgress) -> Void = { _ in }
    ) async throws -> BackfillReport {
        var report = BackfillReport()
        let watch = PollWatch(isStopped: isStopped, progress: progress)
        switch scope {
        case .ids(let ids):
            report.asked.reasons[PollSubject.Reason.asked.rawValue] = ids.count
            report.isComplete = try await !ask(
                ids,
                withNotifications: true,
                &report.asked,
                watch
            )
            if report.asked.failed > report.asked.refused { report.isComplete = false }
        case .since(let instant):
            try await backfill(since: instant, isComplete: false, &report, watch)
        case .all:
            try await backfill(since: .epoch, isComplete: true, &report, watch)
        }
        return report
    }

    private func backfill(
        since: Instant,
        isComplete: Bool,
        _ report: inout BackfillReport,
        _ watch: PollWatch
    ) async throws {
        let begunAt = ContinuousClock.now
        var begun: [StoreEnvironment: BackfillProgress] = [:]
        var isDone = true
        for environment in options.environments {
            let progress = try await ledger.log.beginBackfill(
                in: environment,
                since: max(since, oldest(in: environment)),
                isComplete: isComplete
            )
            begun[environment] = progress
            report.spans.append(
                BackfillReport.Span(
                    environment: environment,
                    since: progress.since,
                    isResumed: progress.isResumed
                )
            )
            isDone =
                try await askForAllNotifications(progress, in: environment, &report.asked, watch)
                && isDone
        }

        for environment in options.environments {
            guard let seconds = begun[environment]?.secondsSinceStart else { continue }
            let pause = { seconds + (ContinuousClock.now - begunAt) / .seconds(1) }
            isDone =
                try await isComplete
                ? askAll(in: environment, pause, &report.asked, watch) && isDone
                : askDue(
                    in: environment,
                    max(pause(), options.pauseSeconds ?? PollPause.plainSeconds),
                    &report.asked,
                    watch
                ) && isDone
        }

        report.isComplete = isDone && report.asked.failed == report.asked.refused
        guard report.isComplete else { return }
        for environment in options.environments {
            guard let progress = begun[environment] else { continue }
            try await ledger.log.finish(progress, in: environment)
        }
    }

    private func oldest(in environment: StoreEnvironment) -> Instant {
        Instant(milliseconds: clock().milliseconds - Poller.retention(of: environment))
    }

    // True if everything was requested.
    private func askForAllNotifications(
        _ progress: BackfillProgress,
        in environment: StoreEnvironment,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        let subject = StreamID(environment: environment, originalTransactionId: "")
        guard let lease = try await waitForLease(on: subject, watch) else { return false }
        // Another process may have requested a part of it while this one waited.
        let reached = try await ledger.log.reached(by: progress, in: environment)
        let span = NotificationSpan(
            environment: environment,
            start: max(reached, oldest(in: environment)).milliseconds,
            end: clock().milliseconds,
            onlyFailures: false
        )
        return try await sweep(span, under: lease, &report, watch) { end in
            try await ledger.log.record(
                progress,
                reached: Instant(milliseconds: end),
                in: environment
            )
            return nil
        }
    }

    private func waitForLease(on subject: StreamID, _ watch: PollWatch) async throws -> PollLease? {
        while !watch.isStopped() {
            if let lease = try await lease(on: subject, pauseSeconds: 0) { return lease }
            if let holder = try await ledger.log.notificationsHolder(in: subject.environment) {
                watch.progress(.waiting(holder))
            }
            try await Task.sleep(for: Poller.leaseInterval)
        }
        return nil
    }

    // Those that were answered since the backfill began are done. Charges that were due in the span
    // are still due, or overdue.
    private func askDue(
        in environment: StoreEnvironment,
        _ pauseSeconds: Double,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        let left = report.left
        let due = try await due(
            within: Poller.dueSpan,
            in: environment,
            pauseSeconds: pauseSeconds,
            &report
        )
        let hasEnded = try await ask(due, pauseSeconds: pauseSeconds, &report, watch)
        return !hasEnded && report.left == left
    }

    private func askAll(
        in environment: StoreEnvironment,
        _ pauseSeconds: () -> Double,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws -> Bool {
        var subscribers = true
        while true {
            let pause = pauseSeconds()
            let selected = try await ledger.log.customersToAsk(
                in: environment,
                subscribers: subscribers,
                pause: pause,
                limit: options.subscriptionsMax
            )
            if selected.streams.isEmpty, !subscribers { return true }
            if selected.streams.isEmpty {
                guard try await waitForOthers(in: environment, watch) else { return false }
                subscribers = false
                continue
            }

            report.reasons[PollSubject.Reason.asked.rawValue, default: 0] += selected.streams.count
            let answered = report.answered
            let hasEnded = try await ask(
                selected.streams,
                pauseSeconds: pause,
                &report,
                watch
            )
            // Without an answer, the same subjects would be selected again.
            guard !hasEnded, report.answered > answered else {
                report.left += selected.left
                report.reasons[PollSubject.Reason.asked.rawValue, default: 0] += selected.left
                return false
            }
        }
    }

    // What another process is asking about now may cover purchases whose customer is unknown. False
    // if this process should end.
    private func waitForOthers(
        in environment: StoreEnvironment,
        _ watch: PollWatch
    ) async throws -> Bool {
        while !watch.isStopped() {
            guard let holder = try await ledger.log.subscriptionsHolder(in: environment) else {
                return true
            }
            watch.progress(.waiting(holder))
            try await Task.sleep(for: Poller.leaseInterval)
        }
        return false
    }

    /// How far ahead a backfill of a span looks for charges, in milliseconds: a day.
    static let dueSpan: Int64 = 86_400_000
    /// The pause before requesting the lease on an environment's notifications again.
    private static let leaseInterval = Duration.milliseconds(500)
}
