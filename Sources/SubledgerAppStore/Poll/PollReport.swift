internal import AppStore
internal import EventLog
public import Events
internal import Subledger

/// The result of a round of polling, or of a backfill.
public struct PollReport: Codable, Hashable, Sendable {
    /// Subscriptions that Apple answered about.
    public internal(set) var answered = 0
    /// Answered subscriptions about which the ledger learned something.
    public internal(set) var withNews = 0
    /// Subscriptions that another poller asks about, or that were answered a short while ago.
    public internal(set) var skipped = 0
    /// Selected subscriptions that were not requested because the round ended early.
    public internal(set) var left = 0
    /// Answered requests, including pages and refusals.
    public internal(set) var requests = 0
    /// Environments whose notifications were asked for.
    public internal(set) var notificationsAsked = 0
    /// Environments whose notifications were not asked for, because another poller asks for them or
    /// did so recently.
    public internal(set) var notificationsSkipped = 0
    /// Notifications read from Apple's history: in a round, those that had not reached the server;
    /// in a backfill, all of the span.
    public internal(set) var missedNotifications = 0
    /// Notifications read that the log lacked.
    public internal(set) var newNotifications = 0
    /// Signed statements in the answers: transactions, statuses and notifications.
    public internal(set) var statements = 0
    /// Facts that were appended as events.
    public internal(set) var appended = 0
    /// Facts that the log knew already.
    public internal(set) var duplicates = 0
    /// Answers that could not be verified; they are recorded among the rejections.
    public internal(set) var rejected = 0
    /// For each reason why answers were refused, as a machine-readable word, the first message.
    public internal(set) var rejections: [String: String] = [:]
    /// Subscriptions with an event that cannot be read: none of their periods is certain.
    public internal(set) var unreadable = 0
    /// Selected subscriptions by the reason for asking: together those that were answered,
    /// skipped, left or failed.
    public internal(set) var reasons: [String: Int] = [:]
    /// Requests that failed or had no answer; only the first of each kind of subject.
    public internal(set) var failures: [Failure] = []
    /// The total number of failures.
    public internal(set) var failed = 0
    /// Failed subscriptions by the reason of the failure.
    public internal(set) var failedByReason: [String: Int] = [:]
    /// Failures that Apple will repeat, because it does not know the id.
    public internal(set) var refused = 0
    /// Seconds that the due subscription that waits longest has been waiting beyond its pause; nil
    /// if the due subscriptions were not looked up.
    public internal(set) var oldestDueSeconds: Double?
    /// When to continue, if a rate limit ended the round.
    public internal(set) var retryAt: Instant?

    /// Most failures to list; all are counted.
    static let failuresMax = 20

    /// A request without an answer.
    public struct Failure: Codable, Hashable, Sendable {
        /// The subscription; nil for the notifications of an environment.
        public let originalTransactionId: String?
        /// The environment that was asked, or was asked first.
        public let environment: StoreEnvironment
        /// The reason, as a machine-readable word.
        public let reason: String
        /// What happened, and what to do.
        public let message: String
    }

    mutating func fail(_ subject: StreamID, _ reason: String, _ message: String) {
        failed += 1
        failedByReason[reason, default: 0] += 1
        refused += reason == ServerError.Code.refused.rawValue ? 1 : 0
        guard failures.count < PollReport.failuresMax else { return }
        failures.append(
            Failure(
                originalTransactionId: subject.originalTransactionId.isEmpty
                    ? nil : subject.originalTransactionId,
                environment: subject.environment,
                reason: reason,
                message: message
            )
        )
    }

    mutating func add(_ taken: TakenAnswers) {
        requests += taken.requests
        statements += taken.statements
        appended += taken.appended
        duplicates += taken.duplicates
        rejected += taken.rejected
        rejections.merge(taken.rejections) { first, _ in first }
    }

    mutating func select(_ customers: AskableCustomers) {
        left += customers.left
        reasons[PollSubject.Reason.asked.rawValue, default: 0] +=
            customers.streams.count + customers.left
    }

    mutating func wait(until instant: Instant?) {
        guard let instant else { return }
        retryAt = max(retryAt ?? .epoch, instant)
    }
}

/// The result of the answers about one subject.
struct TakenAnswers: Sendable {
    var requests = 0
    var statements = 0
    var appended = 0
    var duplicates = 0
    private(set) var rejected = 0
    /// For each reason why answers were refused, the first message.
    private(set) var rejections: [String: String] = [:]
    /// Notifications of Apple's history.
    var notifications = 0
    /// Those notifications that the log lacked.
    var newNotifications = 0
    /// The subscriptions and purchases in the answers: all of a customer's.
    var streams: Set<StreamID> = []

    /// Counts an answer, before it is ingested.
    mutating func add(_ answer: ServerAnswer) {
        requests += 1
        statements += answer.statementCount
    }

    /// Counts a failed request, unless Apple did not answer it.
    mutating func add(_ error: ServerError) { requests += error.errorCode == nil ? 0 : 1 }

    /// Ingests a payload and counts what came of it; nil if it was refused, which the ledger keeps.
    mutating func ingest(
        _ payload: [UInt8],
        into ledger: Ledger,
        arrival: Arrival = .live,
        receivedAt: Instant = .systemClock()
    ) async throws -> Ledger.Ingestion? {
        do {
            let ingestion = try await ledger.ingest(
                payload,
                source: Poller.source,
                arrival: arrival,
                receivedAt: receivedAt,
                voucher: .client
            )
            add(ingestion)
            return ingestion
        } catch let rejection as Rejection {
            add(rejection)
            return nil
        }
    }

    private mutating func add(_ rejection: Rejection) {
        rejected += 1
        let reason = rejection.code.rawValue
        if rejections[reason] == nil { rejections[reason] = rejection.message }
    }

    private mutating func add(_ ingestion: Ledger.Ingestion) {
        appended += ingestion.outcomes.count(where: \.isNew)
        duplicates += ingestion.outcomes.count { !$0.isNew && !$0.isErased }
        for (fact, outcome) in zip(ingestion.facts, ingestion.outcomes) {
            if fact.kind == .notification, outcome.isNew { newNotifications += 1 }
            if fact.stream.originalTransactionId.isEmpty { continue }
            streams.insert(fact.stream)
        }
    }
}
