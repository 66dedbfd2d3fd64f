internal import EventLog
internal import Events
internal import Subledger

/// What Apple sent and the server never got.
extension Poller {
    /// What did not reach the server is asked for again so long after it was sent, in milliseconds:
    /// Apple sends again for about six and a half days.
    private static let overlap: Int64 = 7 * 86_400_000

    /// One question covers at most this span, in milliseconds, so that an answer that ends early
    /// leaves the next round less to ask.
    private static let span: Int64 = 10 * 86_400_000

    /// Asks for the notifications that have not reached the server since the last time, with the
    /// time before in which Apple may still have been trying.
    func askForMissedNotifications(
        in environment: Environment,
        _ report: inout PollReport
    ) async throws {
        let subject = StreamID(environment: environment, originalTransactionId: "")
        guard let lease = try await lease(on: subject) else { return }
        let now = clock().milliseconds
        let last = lease.continuation.flatMap { Int64($0) } ?? 0
        var taken = TakenAnswers()
        do {
            var start = max(last - Poller.overlap, now - Poller.retention(of: environment))
            var isHeld = true
            while isHeld, start < now {
                let end = min(start + Poller.span, now)
                try await takeMissed(from: start, to: end, in: environment, &taken)
                isHeld = try await ledger.log.renew(
                    lease,
                    holder: options.holder,
                    continuation: "\(end)",
                    seconds: options.leaseSeconds
                )
                start = end
            }
            try await end(lease, at: nil, isAnswered: true)
        } catch let error as ServerError {
            try await end(lease, at: nil, isAnswered: false)
            guard error.code != .credentials else { throw error }
            if let retryAt = error.retryAt {
                report.retryAt = max(report.retryAt ?? .epoch, retryAt)
            }
            report.fail(subject, error.code.rawValue, error.message)
        }
        report.missedNotifications += taken.statements
        report.add(taken)
    }

    private func takeMissed(
        from start: Int64,
        to end: Int64,
        in environment: Environment,
        _ taken: inout TakenAnswers
    ) async throws {
        let filter = ServerRequest.NotificationFilter(
            start: Instant(milliseconds: start),
            end: Instant(milliseconds: end),
            onlyFailures: true
        )
        _ = try await client.forEachPage(of: .notificationHistory(filter), in: environment) {
            try await take($0, into: &taken)
        }
    }

    // A day less than Apple keeps them, because the question takes time (Apple's data: server API).
    private static func retention(of environment: Environment) -> Int64 {
        (environment == .sandbox ? 29 : 179) * 86_400_000
    }
}
