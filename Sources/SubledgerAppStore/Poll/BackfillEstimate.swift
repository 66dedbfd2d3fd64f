internal import EventLog
public import Events
public import Subledger
internal import Synchronization

/// What a backfill will take, by Apple's limits and by what the ledger knows.
///
/// A lower bound: how much Apple has that the ledger lacks is unknown in advance.
public struct BackfillEstimate: Codable, Hashable, Sendable {
    /// The parts.
    public internal(set) var environments: [Part] = []
    /// Requests in all.
    public internal(set) var requests: Int64 = 0
    /// Seconds that they take within the share of Apple's rate limits that is used.
    public internal(set) var seconds: Double = 0

    /// What one environment will take.
    public struct Part: Codable, Hashable, Sendable {
        /// Where the purchases were made.
        public let environment: StoreEnvironment
        /// Where the span of notifications begins; nil if ids are requested.
        public let since: Instant?
        /// Customers to ask about.
        public let customers: Int64
        /// Requests for notifications.
        public let notificationRequests: Int64
        /// Requests for statuses.
        public let statusRequests: Int64
        /// Requests for pages of transaction histories.
        public let historyRequests: Int64
        /// Seconds that the requests take.
        public let seconds: Double
    }

    /// Days before the span from which the number of notifications is estimated.
    private static let referenceDays: Int64 = 30

    /// The estimate for a scope.
    ///
    /// - Parameters:
    ///   - scope: What to complete.
    ///   - ledger: What is already known.
    ///   - environments: The environments to ask.
    ///   - limits: The share of Apple's limits to use.
    ///   - now: When the backfill begins.
    /// - Throws: `EventLogError`.
    public init(
        of scope: BackfillScope,
        in ledger: Ledger,
        _ environments: [StoreEnvironment],
        limits: ServerLimits = ServerLimits(),
        at now: Instant
    ) async throws {
        switch scope {
        case .ids(let ids):
            let count = Int64(ids.count)
            let sizes = AskableSize(customers: count, historyPages: count)
            add(sizes, notifications: count, since: nil, .production, limits)
        case .since(let instant):
            for environment in environments {
                let due = Atomic<Int64>(0)
                _ = try await ledger.forEachDue(
                    at: now,
                    withinMilliseconds: Poller.dueSpan,
                    in: environment
                ) { _ in due.add(1, ordering: .relaxed) }
                let count = due.load(ordering: .relaxed)
                let size = AskableSize(customers: count, historyPages: count)
                try await add(size, since: instant, at: now, environment, ledger, limits)
            }
        case .all:
            for environment in environments {
                let size = try await ledger.log.askableSize(
                    in: environment,
                    pageTransactions: Poller.pageMax
                )
                try await add(size, since: .epoch, at: now, environment, ledger, limits)
            }
        }
    }

    private mutating func add(
        _ size: AskableSize,
        since instant: Instant,
        at now: Instant,
        _ environment: StoreEnvironment,
        _ ledger: Ledger,
        _ limits: ServerLimits
    ) async throws {
        let oldest = Instant(milliseconds: now.milliseconds - Poller.retention(of: environment))
        let since = max(instant, oldest)
        let notifications = try await BackfillEstimate.notificationRequests(
            since,
            now,
            environment,
            ledger
        )
        add(size, notifications: notifications, since: since, environment, limits)
    }

    // As many as the log has for the span, or as many as on the days before it: the log lacks those
    // of an outage.
    private static func notificationRequests(
        _ since: Instant,
        _ now: Instant,
        _ environment: StoreEnvironment,
        _ ledger: Ledger
    ) async throws -> Int64 {
        let span = max(0, now.milliseconds - since.milliseconds)
        let reference = referenceDays * 86_400_000
        let known = try await ledger.log.notificationCount(from: since, to: now, in: environment)
        let before = try await ledger.log.notificationCount(
            from: Instant(milliseconds: since.milliseconds - reference),
            to: since,
            in: environment
        )
        let usual = Int64(Double(before) * Double(span) / Double(reference))
        let page = Int64(Poller.pageMax)
        return (max(known, usual) + page - 1) / page + (span + Poller.spanMax - 1) / Poller.spanMax
    }

    private mutating func add(
        _ size: AskableSize,
        notifications: Int64,
        since: Instant?,
        _ environment: StoreEnvironment,
        _ limits: ServerLimits
    ) {
        // Apple limits statuses and histories separately, and they are requested in parallel.
        func seconds(_ requests: Int64, _ endpoint: ServerRequest.Endpoint) -> Double {
            Double(requests) / RequestBudget.rate(endpoint, environment, limits.rateShare)
        }
        let part = Part(
            environment: environment,
            since: since,
            customers: size.customers,
            notificationRequests: notifications,
            statusRequests: size.customers,
            historyRequests: size.historyPages,
            seconds: seconds(notifications, .notifications)
                + max(seconds(size.customers, .statuses), seconds(size.historyPages, .history))
        )
        environments.append(part)
        requests += part.notificationRequests + part.statusRequests + part.historyRequests
        self.seconds += part.seconds
    }
}
