internal import EventLog
internal import Events
internal import Subledger

/// A request for notifications of Apple's history.
struct NotificationSpan: Sendable {
    let environment: StoreEnvironment
    let start: Int64
    let end: Int64
    /// Only those that have not reached the server.
    let onlyFailures: Bool
}

/// Requests what Apple sent but the server never received.
extension Poller {
    /// For how long after a notification was sent an undelivered one is requested again, in
    /// milliseconds: Apple retries for about six and a half days.
    private static let overlap: Int64 = 7 * 86_400_000

    /// One request covers at most this span, in milliseconds, so an answer that ends early leaves
    /// less to request in the next round.
    static let spanMax: Int64 = 10 * 86_400_000

    /// A span with more notifications than one request may return is halved, down to a second.
    private static let spanMin: Int64 = 1000

    /// Entries per page of Apple's answers.
    static let pageMax = 20

    /// Requests the notifications that have not reached the server since the last time, including
    /// the time before in which Apple may still have been retrying.
    func askForMissedNotifications(
        in environment: StoreEnvironment,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws {
        let subject = StreamID(environment: environment, originalTransactionId: "")
        let pause = options.pauseSeconds ?? PollPause.plainSeconds
        guard let lease = try await lease(on: subject, pauseSeconds: pause) else {
            report.notificationsSkipped += 1
            return
        }
        let now = clock().milliseconds
        let last = lease.continuation.flatMap { Int64($0) } ?? 0
        let span = NotificationSpan(
            environment: environment,
            start: max(last - Poller.overlap, now - Poller.retention(of: environment)),
            end: now,
            onlyFailures: true
        )
        try await sweep(span, under: lease, &report, watch) { "\($0)" }
    }

    /// Requests the notifications of a span under a lease, which is released at the end.
    ///
    /// The value that `keep` returns for the end of a finished part is stored with the lease.
    /// Returns whether everything was requested.
    @discardableResult func sweep(
        _ span: NotificationSpan,
        under lease: PollLease,
        _ report: inout PollReport,
        _ watch: PollWatch,
        keep: (Int64) async throws -> String?
    ) async throws -> Bool {
        var taken = TakenAnswers()
        var isComplete = false
        report.notificationsAsked += 1
        do {
            isComplete = try await take(span, under: lease, &taken, watch, keep)
            try await end(lease, at: nil, isAnswered: isComplete)
        } catch is PollWatch.Stopped {
            try await end(lease, at: nil, isAnswered: false)
        } catch let error as ServerError {
            try await end(lease, at: nil, isAnswered: false)
            guard error.code != .credentials else { throw error }
            report.wait(until: error.retryAt)
            report.fail(lease.subject, error.code.rawValue, error.message)
        }
        report.missedNotifications += taken.notifications
        report.newNotifications += taken.newNotifications
        report.add(taken)
        return isComplete
    }

    // True if the lease was kept to the end.
    private func take(
        _ span: NotificationSpan,
        under lease: PollLease,
        _ taken: inout TakenAnswers,
        _ watch: PollWatch,
        _ keep: (Int64) async throws -> String?
    ) async throws -> Bool {
        var (start, length) = (span.start, Poller.spanMax)
        while start < span.end {
            let end = min(start + length, span.end)
            let part = NotificationSpan(
                environment: span.environment,
                start: start,
                end: end,
                onlyFailures: span.onlyFailures
            )

            let before = taken.notifications
            do {
                guard try await takePages(of: part, under: lease, &taken, watch) else {
                    return false
                }
            } catch let error as ServerError
                where error.code == .answerTooLarge && end - start > Poller.spanMin
            {
                length = (end - start) / 2
                continue
            }

            // A dense hour is not a reason to continue in small steps.
            let most = client.limits.pagesMax * Poller.pageMax
            if 2 * (taken.notifications - before) <= most {
                length = min(Poller.spanMax, 2 * length)
            }
            start = end
            guard try await renew(lease, at: try await keep(end)) else { return false }
        }
        return true
    }

    // False if another poller has taken over.
    private func takePages(
        of span: NotificationSpan,
        under lease: PollLease,
        _ taken: inout TakenAnswers,
        _ watch: PollWatch
    ) async throws -> Bool {
        let filter = ServerRequest.NotificationFilter(
            start: Instant(milliseconds: span.start),
            end: Instant(milliseconds: span.end),
            onlyFailures: span.onlyFailures
        )
        do {
            _ = try await client.forEachPage(
                of: .notificationHistory(filter),
                in: span.environment
            ) { page in
                try await takeNotifications(page, into: &taken)
                watch.progress(.notifications(taken.notifications, span.environment))
                guard try await renew(lease, at: nil) else { throw LeaseLost() }
                if watch.isStopped() { throw PollWatch.Stopped() }
            }
            return true
        } catch is LeaseLost {
            return false
        }
    }

    private struct LeaseLost: Error {}

    /// Requests all notifications about one customer that Apple still has.
    func takeNotifications(
        about id: String,
        in environment: StoreEnvironment,
        _ taken: inout TakenAnswers
    ) async throws {
        let now = clock()
        let filter = ServerRequest.NotificationFilter(
            start: Instant(milliseconds: now.milliseconds - Poller.retention(of: environment)),
            end: now,
            transactionId: id
        )
        _ = try await client.forEachPage(of: .notificationHistory(filter), in: environment) {
            try await takeNotifications($0, into: &taken)
        }
    }

    private func takeNotifications(
        _ page: ServerAnswer,
        into taken: inout TakenAnswers
    ) async throws {
        try await take(page, into: &taken)
        taken.notifications += page.statementCount
        // These may be about any customer, so their subscriptions are not recorded as answered.
        taken.streams = []
    }

    private func renew(_ lease: PollLease, at continuation: String?) async throws -> Bool {
        try await ledger.log.renew(
            lease,
            holder: options.holder,
            continuation: continuation,
            seconds: options.leaseSeconds
        )
    }

    /// How long Apple keeps notifications, in milliseconds; a day less, because requests take time
    /// (Apple's data: server API).
    static func retention(of environment: StoreEnvironment) -> Int64 {
        (environment == .sandbox ? 29 : 179) * 86_400_000
    }
}
