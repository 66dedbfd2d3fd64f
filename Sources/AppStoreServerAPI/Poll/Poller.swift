internal import AppStore
internal import EventLog
public import Events
public import Subledger

/// Asks Apple for what no notification reported, and records the answers in a ledger.
///
/// It first requests the notifications that did not reach the server, then asks about
/// subscriptions, the most urgent first: their statuses, and what changed in their history since
/// the last answer. Several pollers share the work by leases. Answers come over TLS from Apple and
/// are signed; they are verified like every payload, and repetitions are not appended again.
public struct Poller: Sendable {
    let ledger: Ledger
    let client: AppStoreServerClient
    let options: Options
    let clock: @Sendable () -> Instant

    /// The source that is recorded with polled payloads.
    public static let source = Ledger.serverAPISource

    /// The settings of a poller.
    public struct Options: Sendable {
        /// The environments to ask about.
        public var environments: [Environment] = [.production, .sandbox]
        /// Subscriptions to ask about at the same time.
        public var concurrency = 8
        /// Most subscriptions of one round; less urgent ones are left for the next.
        public var subscriptionsMax = 100_000
        /// Most due subscriptions that are compared with each other: a few hundred bytes each.
        public var candidatesMax = 1_000_000
        /// Seconds after an answer during which no poller asks about the same customer again.
        public var pauseSeconds = 600.0
        /// Seconds after which another poller may take over from a silent one.
        public var leaseSeconds = 300.0
        /// Failed attempts in a row to reach Apple before the round ends.
        public var unavailableMax = 5
        /// A unique name for this poller.
        public var holder: String

        /// The defaults.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// A poller.
    ///
    /// - Parameters:
    ///   - ledger: Where to record the answers.
    ///   - client: The client for the requests.
    ///   - options: The settings.
    ///   - clock: Our clock.
    public init(
        _ ledger: Ledger,
        _ client: AppStoreServerClient,
        options: Options,
        clock: @escaping @Sendable () -> Instant = { .systemClock() }
    ) {
        self.ledger = ledger
        self.client = client
        self.options = options
        self.clock = clock
    }

    /// The same poller for one environment alone.
    public func limited(to environment: Environment) -> Poller {
        var options = options
        options.environments = [environment]
        return Poller(ledger, client, options: options, clock: clock)
    }

    /// Runs one round.
    ///
    /// Whatever ends the round, the answers recorded so far are kept.
    ///
    /// - Parameters:
    ///   - selection: Which customers to ask about.
    ///   - isStopped: Called before each subscription and each page of notifications; true finishes
    ///     requests in progress and ends the round.
    ///   - progress: Receives the progress so far.
    /// - Returns: The report of the round.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func poll(
        _ selection: PollSelection,
        isStopped: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (PollProgress) -> Void = { _ in }
    ) async throws -> PollReport {
        var report = PollReport()
        let watch = PollWatch(isStopped: isStopped, progress: progress)
        switch selection {
        case .ids(let ids):
            report.reasons[PollSubject.Reason.asked.rawValue] = ids.count
            try await ask(ids, &report, watch)
        case .due(let milliseconds):
            try await askForMissedNotifications(&report, watch)
            // Missed notifications may have ended some of them, and started others.
            let selected = try await due(within: milliseconds, &report)
            try await ask(selected.map(\.stream), &report, watch)
        case .all:
            try await askForMissedNotifications(&report, watch)
            for environment in options.environments {
                try await askAll(in: environment, &report, watch)
            }
        }
        return report
    }

    private func askForMissedNotifications(
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws {
        for environment in options.environments where !watch.isStopped() {
            try await askForMissedNotifications(in: environment, &report, watch)
        }
    }

    /// Subscriptions whose charge is due, the most urgent first.
    func due(within milliseconds: Int64, _ report: inout PollReport) async throws -> [PollSubject] {
        let urgent = UrgentSubjects(countMax: options.candidatesMax)
        let environments = Set(options.environments)
        let unreadable = try await ledger.forEachDue(
            at: clock(),
            withinMilliseconds: milliseconds
        ) { due in
            guard environments.contains(due.environment) else { return }
            urgent.add(PollSubject(due))
        }
        let (subjects, left, reasons) = urgent.finish()
        var answeredAt: [StreamID: Instant] = [:]
        var rest = subjects[...]
        while !rest.isEmpty {
            let part = rest.prefix(Poller.lookUpMax)
            answeredAt.merge(try await ledger.log.answeredAt(of: part.map(\.stream))) { $1 }
            rest = rest.dropFirst(Poller.lookUpMax)
        }
        let chosen = subjects.inTurn(answeredAt).prefix(options.subscriptionsMax)
        report.unreadable = unreadable.count
        report.left += left + subjects.count - chosen.count
        report.reasons.merge(reasons) { $0 + $1 }
        return Array(chosen)
    }

    // First customers with a subscription, then the remaining purchases: the answers about the
    // former show the customer of most of the latter.
    private func askAll(
        in environment: Environment,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws {
        let begun = ContinuousClock.now
        let subscribers = try await ledger.log.customersToAsk(
            in: environment,
            subscribers: true,
            pause: options.pauseSeconds,
            limit: options.subscriptionsMax
        )
        report.select(subscribers)
        report.skipped += subscribers.recent
        let hasEnded = try await ask(subscribers.streams, &report, watch)
        let room = options.subscriptionsMax - subscribers.streams.count
        // What another poller is asking about now may cover the rest too.
        guard !hasEnded, room > 0, try await !ledger.log.isAsking(in: environment) else { return }
        let pause = max(options.pauseSeconds, (ContinuousClock.now - begun) / .seconds(1))
        let others = try await ledger.log.customersToAsk(
            in: environment,
            subscribers: false,
            pause: pause,
            limit: room
        )
        report.select(others)
        try await ask(others.streams, pauseSeconds: pause, &report, watch)
    }

    /// Most subscriptions for which the last answer is looked up at once.
    private static let lookUpMax = 10_000
}

extension PollSubject {
    fileprivate init(_ due: DueDocument) {
        stream = StreamID(
            environment: due.environment,
            originalTransactionId: due.originalTransactionId
        )
        reason = Reason(rawValue: due.reason) ?? .unreadable
        accessEnd = due.accessEnd
    }
}
