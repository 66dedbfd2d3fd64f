internal import AppStore
package import EventLog
package import Events
internal import Foundation
internal import Subledger

/// Answers Apple's requests for consumption information by a policy.
///
/// One process at a time answers for an app. It records what it is about to send before it sends
/// it, so a process that takes over sends the same again, which changes nothing at Apple.
package struct ConsumptionAnswerer: Sendable {
    private let ledger: Ledger
    private let client: AppStoreServerClient
    private let policy: ConsumptionPolicy
    private let bundleId: String
    private let environments: [StoreEnvironment]
    private let callbackSeconds: Double?
    private let clock: @Sendable () -> Instant

    /// Failures in a row after which a round ends: the app or Apple is away.
    private static let failuresMax = 3
    /// Seconds from a round to the next, if nothing is committed.
    static let pauseSeconds = 60.0
    /// How far back the log is searched for requests, in milliseconds: twice the time that Apple
    /// leaves, so that clocks that differ hide none, and those without an answer are recorded.
    private static let searchedMilliseconds = 2 * ConsumptionRequest.answerMilliseconds

    /// The pauses after failures of one request.
    private static let limits: ServerLimits = {
        var limits = ServerLimits()
        (limits.backOffSeconds, limits.backOffSecondsMax) = (5, 900)
        return limits
    }()

    /// An answerer.
    ///
    /// - Parameters:
    ///   - poller: The ledger where requests arrive, the client for the answers, the environments
    ///     and the clock.
    ///   - policy: Who consents, and what is preferred.
    ///   - bundleId: The app of the client's key.
    ///   - callbackSeconds: How long to wait for the app; nil for 10.
    package init(
        _ poller: Poller,
        _ policy: ConsumptionPolicy,
        bundleId: String,
        callbackSeconds: Double? = nil
    ) {
        (ledger, client, clock) = (poller.ledger, poller.client, poller.clock)
        environments = poller.options.environments
        (self.policy, self.bundleId) = (policy, bundleId)
        self.callbackSeconds = callbackSeconds
    }

    /// Answers everything that waits, once.
    ///
    /// - Returns: What became of the requests; nil if another process answers for the app.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`; `CancellationError`.
    package func round() async throws -> ConsumptionRound? {
        guard let session = try await ledger.log.followerSession(holding: lock) else { return nil }
        let result: Result<ConsumptionRound, any Error>
        do {
            var place: [Int: Int64]?
            result = .success(try await round(&place))
        } catch {
            result = .failure(error)
        }
        await session.close()
        return try result.get()
    }

    /// Answers requests as they arrive, until the task is cancelled.
    ///
    /// While another process answers for the app, it waits for that one to end.
    ///
    /// - Parameter report: Receives each round that did anything, and each failure after which it
    ///   goes on.
    package func follow(
        _ report: @Sendable (Result<ConsumptionRound, any Error>) async -> Void
    ) async {
        while !Task.isCancelled {
            var opened: FollowerSession?
            do {
                opened = try await ledger.log.followerSession(holding: lock)
                if let session = opened { try await follow(session, report) }
            } catch {
                if !Task.isCancelled { await report(.failure(error)) }
            }
            await opened?.close()
            await ConsumptionAnswerer.sleep(ConsumptionAnswerer.pauseSeconds)
        }
    }

    // Until an error, which may be the loss of the lock.
    private func follow(
        _ session: FollowerSession,
        _ report: (Result<ConsumptionRound, any Error>) async -> Void
    ) async throws {
        var place: [Int: Int64]?
        while !Task.isCancelled {
            let round = try await round(&place)
            if !round.outcomes.isEmpty { await report(.success(round)) }
            // Not before a second is over, because a busy log is never without news.
            await ConsumptionAnswerer.sleep(1)
            try await session.waitForCommit(atMost: .seconds(round.pauseSeconds(at: clock())))
        }
    }

    /// Apple's requests and their answers, newest first, with those that were not taken up yet.
    ///
    /// - Parameters:
    ///   - log: Where they arrive.
    ///   - limit: The most to return.
    ///   - now: Our clock: a request that waits for longer than Apple does is too late.
    /// - Returns: The requests.
    /// - Throws: `EventLogError`.
    package static func requests(
        in log: EventLog,
        limit: Int,
        at now: Instant
    ) async throws(EventLogError) -> [ConsumptionRequest] {
        let recorded = try await log.recordedConsumption(limit: limit)
        let known = Set(recorded.map(\.position))
        var place: [Int: Int64]?
        let found = try await found(in: log, after: &place, at: now)
        let newest = Dictionary(
            recorded.map { ($0.purchase, $0.decidedAt ?? $0.requestedAt) },
            uniquingKeysWith: max
        )
        let open = found.filter { request in
            !known.contains(request.position)
                && newest[request.purchase].map { $0 < request.requestedAt } ?? true
        }
        return (open + recorded).map { request in
            var request = request
            if request.outcome.isWaiting, request.dueAt < now { request.outcome = .tooLate }
            return request
        }.sorted { ($1.requestedAt, $0.position) < ($0.requestedAt, $1.position) }
    }

    /// What the ledger would answer about a request, if the customer consents; nil if an answer
    /// makes no sense.
    ///
    /// - Throws: `EventLogError`.
    package func proposal(
        for request: ConsumptionRequest
    ) async throws(EventLogError) -> ConsumptionInformation? {
        guard let facts = try await request.facts(in: ledger), facts.notNeeded == nil else {
            return nil
        }
        return policy.proposal(for: facts).information
    }

    private var lock: String { "subledger/consumption/\(bundleId)" }

    private static func sleep(_ seconds: Double) async {
        do {
            try await Task.sleep(for: .seconds(seconds))
        } catch {
            // Whoever calls it looks whether the task was cancelled.
        }
    }
}

// One round.
extension ConsumptionAnswerer {
    private func round(_ place: inout [Int: Int64]?) async throws -> ConsumptionRound {
        var searched = place
        let found = try await ConsumptionAnswerer.found(
            in: ledger.log,
            after: &searched,
            at: clock()
        )
        try await ledger.log.record(
            found.filter { $0.bundleId == bundleId && environments.contains($0.stream.environment) }
        )
        place = searched

        let callback = ConsumptionCallback(seconds: callbackSeconds, clock: clock)
        let result: Result<ConsumptionRound, any Error>
        do {
            result = .success(try await answerAll(callback))
        } catch {
            result = .failure(error)
        }
        try await callback.close()
        return try result.get()
    }

    // The newest about each transaction.
    private static func found(
        in log: EventLog,
        after place: inout [Int: Int64]?,
        at now: Instant
    ) async throws(EventLogError) -> [ConsumptionRequest] {
        let start = Instant(milliseconds: now.milliseconds - searchedMilliseconds)
        if place == nil {
            place = try await log.heads(knownAt: .time(start)).mapValues(\.offset)
        }
        var offsets = place ?? [:]
        let notices = try await log.consumptionNotices(after: &offsets, signedSince: start)
        place = offsets
        var newest: [ConsumptionRequest.Purchase: ConsumptionRequest] = [:]
        for request in notices.compactMap(ConsumptionRequest.init) {
            if let known = newest[request.purchase], known.requestedAt > request.requestedAt {
                continue
            }
            newest[request.purchase] = request
        }
        return newest.values.sorted { $0.position < $1.position }
    }

    private func answerAll(_ callback: ConsumptionCallback) async throws -> ConsumptionRound {
        var round = ConsumptionRound()
        var failures = 0
        while failures < ConsumptionAnswerer.failuresMax,
            let request = try await ledger.log.waitingConsumption(
                of: bundleId,
                in: environments,
                at: clock()
            )
        {
            try Task.checkCancellation()
            let answered = try await answer(request, callback)
            round.add(answered)
            failures = answered?.outcome == .failed ? failures + 1 : 0
            // Only the operator can help; what waits is not answered by more attempts.
            if let fault = answered?.fault { throw fault }
        }
        return round
    }

    private typealias Answered = ConsumptionRound.Answered

    // Nil if another process was faster, or the subscription was erased.
    private func answer(
        _ request: ConsumptionRequest,
        _ callback: ConsumptionCallback
    ) async throws -> Answered? {
        if request.dueAt < clock() { return try await finish(request, .tooLate) }
        var sending = request
        // What is recorded was decided, and may have reached Apple already.
        if request.body == nil {
            let decision: (information: ConsumptionInformation?, outcome: Answered?)
            do {
                decision = try await decide(request, callback)
            } catch let fault as ConsumptionCallback.Fault {
                return try await retry(request, fault.message)
            }
            guard let information = decision.information else { return decision.outcome }
            sending.body = information.body
        }

        sending.attempts += 1
        sending.outcome = .sending
        (sending.decidedAt, sending.retryAt) = (clock(), nil)
        guard try await ledger.log.record(sending, insteadOf: request) else { return nil }
        do {
            let command = ServerCommand.sendConsumption(
                sending.transactionId,
                body: sending.body ?? ""
            )
            _ = try await client.send(command.call, in: sending.stream.environment)
        } catch let error as ServerError {
            sending.errorCode = error.errorCode?.rawValue
            if error.code == .refused { return try await finish(sending, .refused, error.message) }
            var answered = try await retry(sending, error.message, at: error.retryAt)
            if error.code == .credentials { answered?.fault = error }
            return answered
        }
        return try await finish(sending, .sent)
    }

    // What to send, or what became of the request without it.
    private func decide(
        _ request: ConsumptionRequest,
        _ callback: ConsumptionCallback
    ) async throws -> (ConsumptionInformation?, Answered?) {
        guard let facts = try await request.facts(in: ledger) else {
            let reason = "the ledger does not know the purchase any more"
            return (nil, try await finish(request, .notNeeded, reason))
        }
        if let reason = facts.notNeeded {
            return (nil, try await finish(request, .notNeeded, reason))
        }
        var proposal: ConsumptionProposal? = policy.proposal(for: facts)
        switch policy.consent {
        case .terms: break
        case .customers(let ids): if !facts.isCustomer(ids) { proposal = nil }
        case .callback(let address):
            if let own = proposal {
                proposal = try await callback.answer(at: address, about: facts, own)
            }
        }
        guard let information = proposal?.information else {
            return (nil, try await finish(request, .notConsented))
        }
        return (information, nil)
    }

    private func finish(
        _ request: ConsumptionRequest,
        _ outcome: ConsumptionRequest.Outcome,
        _ note: String = ""
    ) async throws -> Answered? {
        var after = request
        (after.outcome, after.note) = (outcome, note)
        (after.decidedAt, after.retryAt) = (clock(), nil)
        return try await ledger.log.record(after, insteadOf: request) ? Answered(after) : nil
    }

    private func retry(
        _ request: ConsumptionRequest,
        _ note: String,
        at instant: Instant? = nil
    ) async throws -> Answered? {
        var after = request
        // An attempt that was recorded as sending is counted.
        if request.outcome != .sending { after.attempts += 1 }
        (after.outcome, after.note, after.decidedAt) = (.failed, note, clock())
        let pause = ConsumptionAnswerer.limits.backOff(
            before: after.attempts + 1,
            jitter: .random(in: 0...1)
        )
        let next = Instant(
            milliseconds: clock().milliseconds + Int64(pause / .milliseconds(1))
        )
        after.retryAt = max(next, instant ?? next)
        return try await ledger.log.record(after, insteadOf: request) ? Answered(after) : nil
    }
}

extension ConsumptionRequest {
    /// A transaction of a purchase.
    struct Purchase: Hashable {
        let stream: StreamID
        let transactionId: String
    }

    var purchase: Purchase { Purchase(stream: stream, transactionId: transactionId) }

    // Version 1 names no transaction of its own, and Apple takes no answer about it.
    fileprivate init?(_ notice: ConsumptionNotice) {
        guard let claims = notice.payload.flatMap({ JSON.unverifiedClaims(of: $0[...]) }),
            let nested = claims["data"]?["signedTransactionInfo"]?.utf8,
            let transaction = JSON.unverifiedClaims(of: nested),
            let id = transaction["transactionId"]?.text, !id.isEmpty
        else { return nil }
        self.init(notice.event, transactionId: id)
    }
}

/// What became of requests in a round.
package struct ConsumptionRound: Encodable, Sendable {
    /// How many requests came to each outcome.
    package private(set) var outcomes: [String: Int] = [:]
    /// Why attempts failed, or Apple refused.
    package private(set) var notes: [String] = []
    private var retryAt: Instant?

    private enum CodingKeys: String, CodingKey { case outcomes, notes }

    /// Whether attempts failed that are tried again.
    package var hasFailures: Bool { outcomes[ConsumptionRequest.Outcome.failed.rawValue] != nil }

    fileprivate struct Answered {
        let request: ConsumptionRequest
        /// What ends the round.
        var fault: ServerError?

        var outcome: ConsumptionRequest.Outcome { request.outcome }

        init(_ request: ConsumptionRequest) { self.request = request }
    }

    fileprivate mutating func add(_ answered: Answered?) {
        guard let request = answered?.request else { return }
        outcomes[request.outcome.rawValue, default: 0] += 1
        if !request.note.isEmpty {
            notes.append("transaction \(request.transactionId): \(request.note)")
        }
        if let next = request.retryAt { retryAt = min(retryAt ?? next, next) }
    }

    // Until the next attempt is due.
    fileprivate func pauseSeconds(at now: Instant) -> Double {
        let left = retryAt.map { Double($0.milliseconds - now.milliseconds) / 1000 }
        return min(ConsumptionAnswerer.pauseSeconds, max(0, left ?? .infinity))
    }
}
