internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Subledger

/// Apple's current answer about a customer.
struct RefreshDocument: Encodable, Sendable {
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
    enum Outcome: String, Encodable, Sendable {
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
    /// Seconds after which to retry if too many customers are being asked about: by then, Apple
    /// has answered about some of them.
    private static let refreshBusySeconds = 5

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
            try await audit(call, "refresh", about: subject.id)

            let before = try await access(of: subject)
            let streams = before.subscriptions.map {
                StreamID(
                    environment: before.environment,
                    originalTransactionId: $0.originalTransactionId
                )
            }
            let outcome = try await LedgerRoutes.first(within: seconds) {
                let (outcome, round) = try await refresh.ask(streams)
                if let round { metrics.count(round) }
                return outcome
            }
            return try .json(
                try await document(of: outcome, before: before, subject, call.logger)
            )
        }
    }

    private func access(of subject: SubjectID) async throws -> AccessDocument {
        try await reading {
            let answer = try await ledger.access(of: subject, at: clock(), sandbox: sandbox)
            try await ledger.checkKnown(answer, of: subject)
            return answer
        }
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
        case .rateLimited, .failed, .busy: throw problem(of: outcome, logger)
        }
        return RefreshDocument(
            outcome: word,
            answeredAt: answeredAt,
            newEvents: appended,
            before: before,
            access: try await access(of: subject)
        )
    }

    // The reason why there is no answer.
    private func problem(of outcome: CustomerRefresh.Outcome?, _ logger: Logger) -> Problem {
        let (code, detail, retryAt): (String, String, Instant?)
        switch outcome {
        case .failed(let words, let instant):
            logger.warning("Apple did not answer", metadata: ["error": "\(words)"])
            (code, retryAt) = ("apple-unavailable", instant)
            detail =
                "Apple did not answer. The log of the service contains the reason, under the "
                + "X-Request-Id of this response."
        case .busy:
            (code, retryAt) = ("refresh-busy", nil)
            detail =
                "The service is asking Apple about as many customers as it may at once. Send the "
                + "request again later."
        case .rateLimited(let instant):
            (code, retryAt) = ("apple-rate-limit", instant)
            detail = "Apple's rate limit is reached. Send the request again later."
        case .answered, .recent, nil:
            preconditionFailure("an answer is not a problem: \(String(describing: outcome))")
        }

        var problem = Problem(.serviceUnavailable, code, detail)
        let wait = retryAt.map { Int(($0.milliseconds - clock().milliseconds + 999) / 1000) }
        let usual =
            code == "refresh-busy"
            ? LedgerRoutes.refreshBusySeconds : LedgerRoutes.refreshRetrySeconds
        problem.retryAfterSeconds = wait.map { max(1, $0) } ?? usual
        return problem
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
