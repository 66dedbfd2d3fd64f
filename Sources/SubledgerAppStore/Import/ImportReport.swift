public import Events

/// The result of an import of histories.
public struct ImportReport: Codable, Hashable, Sendable {
    /// Ids in the list, each once.
    public let ids: Int
    /// Ids that Apple answered about.
    public internal(set) var answered = 0
    /// Answered ids from which the ledger learned something.
    public internal(set) var withNews = 0
    /// Ids whose customer this run or an earlier one had already asked about.
    public internal(set) var skipped = 0
    /// Ids that Apple does not know.
    public internal(set) var unknown = 0
    /// Ids without an answer for another reason.
    public internal(set) var failed = 0
    /// Ids that remain because the run ended early.
    public internal(set) var left = 0
    /// Answered requests, including pages and refusals.
    public internal(set) var requests = 0
    /// Facts that were appended as events.
    public internal(set) var appended = 0
    /// Facts that the log knew already.
    public internal(set) var duplicates = 0
    /// Answers that could not be verified; they are recorded among the rejections.
    public internal(set) var rejected = 0
    /// Ids that are unknown or were not answered; only the first are listed.
    public internal(set) var failures: [Failure] = []
    /// Orders of which the subscriptions are known.
    public internal(set) var ordersFound = 0
    /// The first of these orders, with their subscriptions.
    public internal(set) var orders: [Order] = []
    /// When to continue, if a rate limit ended the run.
    public internal(set) var retryAt: Instant?

    /// Most failures to list; all are counted.
    static let failuresMax = 20

    /// Most orders to list; all are counted.
    static let ordersMax = 100

    /// An order of Apple's invoices, and the subscriptions or other purchases in it.
    public struct Order: Codable, Hashable, Sendable {
        /// In upper case, as Apple writes it.
        public let orderId: String
        /// Those of the purchases in the order; all are of production.
        public let originalTransactionIds: [String]
    }

    /// An id without an answer.
    public struct Failure: Codable, Hashable, Sendable {
        /// As it is in the list.
        public let id: String
        /// The reason, as a machine-readable word.
        public let reason: String
        /// What happened, and what to do.
        public let message: String
    }

    init(ids: Int) { self.ids = ids }

    mutating func add(_ order: Order) {
        ordersFound += 1
        if orders.count < ImportReport.ordersMax { orders.append(order) }
    }

    mutating func answer(_ taken: TakenAnswers) {
        answered += 1
        if taken.appended > 0 { withNews += 1 }
        add(taken)
    }

    mutating func fail(
        _ subject: HistoryImport.Subject,
        _ error: ServerError,
        _ taken: TakenAnswers
    ) {
        add(taken)
        switch error.code {
        case .rateLimited:
            retryAt = max(retryAt ?? .epoch, error.retryAt ?? .epoch)
            left += 1
            return
        case .refused: unknown += 1
        default: failed += 1
        }
        guard failures.count < ImportReport.failuresMax else { return }
        failures.append(
            Failure(id: subject.id, reason: error.code.rawValue, message: error.message)
        )
    }

    private mutating func add(_ taken: TakenAnswers) {
        requests += taken.requests
        appended += taken.appended
        duplicates += taken.duplicates
        rejected += taken.rejected
    }
}

/// The least time that Apple's rate limits allow for an import: long histories have more pages.
public struct ImportEstimate: Codable, Hashable, Sendable {
    /// Ids to ask about.
    public let ids: Int
    /// Requests: statuses and one page of history for each, and one more for an order.
    public let requests: Int
    /// Seconds that the requests take.
    public let seconds: Double

    /// The estimate for a list of ids.
    ///
    /// - Parameters:
    ///   - subjects: The ids.
    ///   - limits: The share of Apple's limits to use.
    public init(of subjects: [HistoryImport.Subject], limits: ServerLimits = ServerLimits()) {
        let orders = subjects.count { if case .order = $0 { true } else { false } }
        func seconds(_ count: Int, _ endpoint: ServerRequest.Endpoint) -> Double {
            Double(count) / (endpoint.perSecond * limits.rateShare)
        }
        ids = subjects.count
        requests = 2 * subjects.count + orders
        // Apple limits each endpoint separately, and they are requested in parallel.
        self.seconds = max(
            seconds(subjects.count, .history),
            seconds(subjects.count, .statuses),
            seconds(orders, .order)
        )
    }
}
