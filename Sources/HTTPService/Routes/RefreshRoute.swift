internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Subledger

/// Apple's current answer about a customer.
struct RefreshDocument: Codable, Hashable, Sendable {
    /// The outcome of the request to Apple.
    let outcome: Outcome
    /// When Apple last answered about one of the subscriptions; nil if it never did.
    let answeredAt: Instant?
    /// How many events the answer added.
    let newEvents: Int
    /// The access before Apple was asked.
    let before: AccessDocument
    /// The access now.
    let access: AccessDocument

    /// The outcome of the request to Apple.
    enum Outcome: String, CaseIterable, Codable, Sendable {
        /// Apple answered.
        case answered
        /// Apple was asked less than a minute ago.
        case recent
        /// Apple has not answered within the time that the request waits; the question continues.
        case pending
    }
}

extension LedgerRoutes {
    /// Seconds that a request waits for Apple by default.
    private static let refreshSeconds = 10.0
    /// Seconds after which to retry if Apple did not answer.
    private static let refreshRetrySeconds = 60

    /// `POST /v1/customers/{id}/refresh`: asks Apple about the customer's subscriptions now.
    func addRefresh(to router: some RouterMethods<some RequestContext>) {
        let path = "/v1/customers/:id/refresh"
        on(.post, path, of: router, for: .support, or: .ingest) { call in
            try call.check([.environment, .wait])
            guard let refresh else {
                throw Problem(
                    .conflict,
                    "refresh-off",
                    "This service does not ask Apple. Start it with --poll and an In-App Purchase "
                        + "key, or run `subledger poll ID`."
                )
            }
            let subject = try call.subject("id", alone: false)
            let seconds = try call.wait() ?? LedgerRoutes.refreshSeconds
            audit(call, "refresh", about: subject.id)
            let before = try await access(of: subject)
            let streams = before.subscriptions.map {
                StreamID(
                    environment: before.environment,
                    originalTransactionId: $0.originalTransactionId
                )
            }
            let outcome = try await LedgerRoutes.first(within: seconds) {
                let (outcome, round) = try await refresh.ask(streams)
                metrics.count(round)
                return outcome
            }
            return try .json(
                try await document(of: outcome, before: before, subject, call.logger)
            )
        }
    }

    private func access(of subject: SubjectID) async throws -> AccessDocument {
        try await ledger.access(of: subject, at: clock(), sandbox: sandbox)
    }

    private func document(
        of outcome: CustomerRefresh.Outcome?,
        before: AccessDocument,
        _ subject: SubjectID,
        _ logger: Logger
    ) async throws -> RefreshDocument {
        var (word, answeredAt, appended) = (RefreshDocument.Outcome.pending, Instant?.none, 0)
        switch outcome {
        case nil: break
        case .answered(let count, let instant):
            (word, answeredAt, appended) = (.answered, instant, count)
        case .recent(let instant): (word, answeredAt) = (.recent, instant)
        case .rateLimited(let retryAt):
            var problem = Problem(
                .serviceUnavailable,
                "apple-rate-limit",
                "Apple's rate limit is reached. Send the request again later."
            )
            let wait = retryAt.map { ($0.milliseconds - clock().milliseconds + 999) / 1000 }
            problem.retryAfterSeconds =
                wait.map { Int(max(1, $0)) } ?? LedgerRoutes.refreshRetrySeconds
            throw problem
        case .failed(let words):
            logger.warning("Apple did not answer", metadata: ["error": "\(words)"])
            var problem = Problem(
                .serviceUnavailable,
                "apple-unavailable",
                "Apple did not answer the question. The log of the service contains the reason, "
                    + "under the X-Request-Id of this response."
            )
            problem.retryAfterSeconds = LedgerRoutes.refreshRetrySeconds
            throw problem
        }
        return RefreshDocument(
            outcome: word,
            answeredAt: answeredAt,
            newEvents: appended,
            before: before,
            access: try await access(of: subject)
        )
    }

    // A body that takes longer is not waited for but continues, because its answer is useful for
    // the next question.
    private static func first<Value: Sendable>(
        within seconds: Double,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, result) = AsyncStream.makeStream(of: Result<Value, any Error>?.self)
        Task {
            do {
                result.yield(.success(try await body()))
            } catch {
                result.yield(.failure(error))
            }
        }
        let timer = Task {
            try await Task.sleep(for: .seconds(seconds))
            result.yield(nil)
        }
        defer { timer.cancel() }
        for await value in results { return try value?.get() }
        return nil
    }
}

extension Call {
    /// The most seconds that the request waits.
    fileprivate func wait() throws -> Double? {
        try query(.wait, expecting: "seconds from 0 to 30") { text in
            Double(text).flatMap { (0...30).contains($0) ? $0 : nil }
        }
    }
}
