public import EventLog
public import Events
public import Subledger

/// Fetches the whole history of customers of whom only an id is known: statuses and all pages of
/// the transaction history of each.
///
/// Apple's answer about an id covers its customer, so other ids of the same customer are not
/// requested. The ledger records which subscriptions were answered: the next run continues one that
/// ended early, and several runs can share a list.
public struct HistoryImport: Sendable {
    let ledger: Ledger
    private let client: AppStoreServerClient
    private let options: Options

    /// How Apple identifies a customer.
    public enum Subject: Hashable, Sendable {
        /// A transaction id, an original transaction id or an app transaction id.
        case transaction(String)
        /// An order id, as in the customer's invoice; production only.
        case order(OrderID)

        var id: String {
            switch self {
            case .transaction(let id): id
            case .order(let order): order.text
            }
        }
    }

    /// The settings of an import.
    public struct Options: Sendable {
        /// The environments to ask, in this order.
        public var environments: [StoreEnvironment] = [.production, .sandbox]
        /// Customers to ask about at the same time.
        public var concurrency = 16
        /// Seconds after an answer before the same customer is requested again.
        public var pauseSeconds = 30 * 86_400.0
        /// Seconds after which another process may take over from a silent one.
        public var leaseSeconds = 300.0
        /// Failed attempts in a row to reach Apple before the import ends.
        public var unavailableMax = 5
        /// A unique name for this process.
        public var holder: String

        /// The defaults.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// Most ids of one import: all are held in memory.
    public static let subjectsMax = 5_000_000

    /// An import.
    ///
    /// - Parameters:
    ///   - ledger: Where to record the answers.
    ///   - client: The client for the requests.
    ///   - options: The settings.
    public init(_ ledger: Ledger, _ client: AppStoreServerClient, options: Options) {
        self.ledger = ledger
        self.client = client
        self.options = options
    }

    /// What came of one id.
    private struct Asked: Sendable {
        var outcome: PollOutcome
        /// The subscriptions of an order; nil for other ids.
        var order: ImportReport.Order?
    }

    /// Asks Apple about ids, several at once.
    ///
    /// Neighbours in the list are asked about one after the other: they often belong to one
    /// customer, and the answer about the first covers the others. Whatever ends the run, the
    /// answers recorded so far are kept.
    ///
    /// - Parameters:
    ///   - subjects: The ids.
    ///   - isStopped: Called before each id; true finishes those in progress and ends the run.
    ///   - progress: Called after each id with the number that are done.
    /// - Returns: The report of the run.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func run(
        _ subjects: [Subject],
        isStopped: @escaping @Sendable () -> Bool = { false },
        progress: (Int) -> Void = { _ in }
    ) async throws -> ImportReport {
        var report = ImportReport(ids: subjects.count)
        var (begun, done, unavailable) = (0, 0, 0)
        var isEnding = false
        var parts = ImportParts(count: subjects.count, parts: options.concurrency)
        try await withThrowingTaskGroup(of: (part: Int, Subject, Asked).self) { group in
            func begin(_ part: Int) {
                guard !isEnding, !isStopped(), let index = parts.next(of: part) else { return }
                let subject = subjects[index]
                begun += 1
                group.addTask { (part, subject, try await ask(about: subject)) }
            }
            for part in 0..<options.concurrency { begin(part) }
            while let (part, subject, asked) = try await group.next() {
                done += 1
                if let order = asked.order { report.add(order) }
                switch asked.outcome {
                case .answered(let taken):
                    unavailable = 0
                    report.answer(taken)
                case .skipped: report.skipped += 1
                case .failed(let error, let taken):
                    if error.code == .credentials { throw error }
                    report.fail(subject, error, taken)
                    let isAway = error.code == .unavailable || error.code == .timedOut
                    unavailable += isAway ? 1 : 0
                    isEnding =
                        isEnding || error.code == .rateLimited
                        || unavailable >= options.unavailableMax
                }
                progress(done)
                begin(part)
            }
        }
        report.left += subjects.count - begun
        return report
    }
}

extension HistoryImport: LeaseHolder {
    var holder: String { options.holder }
    var leaseSeconds: Double { options.leaseSeconds }

    private func ask(about subject: Subject) async throws -> Asked {
        var taken = TakenAnswers()
        var streams = try await known(subject)
        if case .order(let order) = subject, streams.isEmpty {
            do {
                streams = try await take(order, &taken)
            } catch let error as ServerError {
                taken.add(error)
                return Asked(outcome: .failed(error, taken))
            }
            // The answer was refused, and is among the rejections.
            guard !streams.isEmpty else { return Asked(outcome: .answered(taken)) }
        }
        var asked = Asked(outcome: .skipped)
        if case .order(let order) = subject {
            asked.order = ImportReport.Order(
                orderId: order.text,
                originalTransactionIds: streams.map(\.originalTransactionId)
            )
        }
        let stream =
            streams.first
            ?? StreamID(environment: .production, originalTransactionId: subject.id)
        if let lease = try await lease(on: stream, pauseSeconds: options.pauseSeconds) {
            let id = asked.order == nil ? subject.id : stream.originalTransactionId
            asked.outcome = try await outcome(of: id, under: lease, taken)
        } else if taken.requests > 0 {
            // The customer of an order became known only now, and was answered about before.
            asked.outcome = .answered(taken)
        }
        return asked
    }

    private func outcome(
        of id: String,
        under lease: PollLease,
        _ before: TakenAnswers
    ) async throws -> PollOutcome {
        var taken = before
        var answered: Set<StreamID> = []
        do {
            let revision = try await takeAll(about: id, &taken, &answered)
            let isWhole = taken.rejected == 0
            // What could not be verified is requested again.
            for other in answered where isWhole && other != lease.subject {
                let lease = try await self.lease(on: other, pauseSeconds: options.pauseSeconds)
                if let lease { try await end(lease, at: nil, isAnswered: true) }
            }
            let isOfStream = answered.contains(lease.subject)
            try await end(lease, at: isOfStream && isWhole ? revision : nil, isAnswered: isWhole)
            return .answered(taken)
        } catch let error as ServerError {
            taken.add(error)
            try await end(lease, at: nil, isAnswered: false)
            return .failed(error, taken)
        }
    }

    // The subscriptions that the ledger knows under the id.
    private func known(_ subject: Subject) async throws -> [StreamID] {
        let streams =
            switch subject {
            case .transaction(let id):
                try await ledger.log.streams(
                    with: [.originalTransactionId(id), .transactionId(id), .appTransactionId(id)]
                )
            case .order(let order): try await ledger.log.streams(of: order)
            }
        return streams.filter { options.environments.contains($0.environment) }
    }

    // Which subscriptions an order has only Apple says, so that is recorded.
    private func take(
        _ order: OrderID,
        _ taken: inout TakenAnswers
    ) async throws -> [StreamID] {
        let answer = try await client.answer(to: .order(order.text), in: .production)
        guard answer.statementCount > 0 else {
            throw ServerError(.refused, "Apple knows no order \(order.text) of this app")
        }
        var streams: Set<StreamID> = []
        try await take(answer, &taken, &streams)
        try await ledger.log.record(order, of: streams)
        return streams.sorted()
    }

    private func takeAll(
        about id: String,
        _ taken: inout TakenAnswers,
        _ answered: inout Set<StreamID>
    ) async throws -> String? {
        let statuses = try await statuses(of: id)
        try await take(statuses, &taken, &answered)
        return try await client.forEachPage(
            of: .transactionHistory(id),
            in: statuses.environment
        ) { page in
            try await take(page, &taken, &answered)
        }
    }

    private func statuses(of id: String) async throws -> ServerAnswer {
        let request = ServerRequest.subscriptionStatuses(id)
        guard let only = options.environments.first, options.environments.count == 1 else {
            return try await client.answer(to: request)
        }
        return try await client.answer(to: request, in: only)
    }

    // The ledger keeps an answer that it refuses.
    private func take(
        _ answer: ServerAnswer,
        _ taken: inout TakenAnswers,
        _ answered: inout Set<StreamID>
    ) async throws {
        taken.add(answer)
        guard answer.statementCount > 0 else { return }
        let ingestion = try await taken.ingest(answer.payload, into: ledger, arrival: .imported)
        answered.formUnion(ingestion?.facts.map(\.stream) ?? [])
    }
}
