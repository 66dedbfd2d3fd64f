internal import AppStore
package import EventLog
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
        public var environments: [StoreEnvironment] = [.production, .sandbox]
        /// Subscriptions to ask about at the same time.
        public var concurrency = 8
        /// Most subscriptions of one round; less urgent ones are left for the next.
        public var subscriptionsMax = 100_000
        /// Most due subscriptions that are compared with each other: a few hundred bytes each.
        public var candidatesMax = 1_000_000
        /// Seconds after an answer before which no process asks about the same again; nil for a
        /// pause by urgency for due subscriptions (`PollPause`), and `PollPause.plainSeconds` for
        /// all others.
        public var pauseSeconds: Double?
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

    /// The log of the ledger.
    package var log: EventLog { ledger.log }

    /// The same poller for one environment alone.
    public func limited(to environment: StoreEnvironment) -> Poller {
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
            try await ask(selected, pauseSeconds: options.pauseSeconds, &report, watch)
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
    ///
    /// Subscriptions that Apple answered about within their pause count as skipped.
    func due(
        within milliseconds: Int64,
        in environment: StoreEnvironment? = nil,
        pauseSeconds: Double? = nil,
        _ report: inout PollReport
    ) async throws -> [PollSubject] {
        let now = clock()
        let urgent = UrgentSubjects(countMax: options.candidatesMax)
        let environments = Set(environment.map { [$0] } ?? options.environments)
        let unreadable = try await ledger.forEachDue(
            at: now,
            withinMilliseconds: milliseconds,
            in: environment
        ) { due in
            guard environments.contains(due.environment) else { return }
            urgent.add(PollSubject(due))
        }

        let (subjects, left, reasons) = urgent.finish()
        let answers = try await answers(about: subjects)
        var open: [PollSubject] = []
        var oldest = 0.0
        for subject in subjects {
            let pause = pauseSeconds ?? pause(of: subject, at: now)
            let age = answers[subject.stream]?.ageSeconds
            if let age, age < pause { continue }
            open.append(subject)
            oldest = max(oldest, age.map { $0 - pause } ?? subject.secondsSinceDue(at: now))
        }

        let chosen = open.inTurn(answers.mapValues(\.answeredAt)).prefix(options.subscriptionsMax)
        report.oldestDueSeconds = max(report.oldestDueSeconds ?? 0, oldest)
        report.unreadable += unreadable.count
        report.skipped += subjects.count - open.count
        report.left += left + open.count - chosen.count
        report.reasons.merge(reasons) { $0 + $1 }
        return Array(chosen)
    }

    private func answers(about subjects: [PollSubject]) async throws -> [StreamID: PollAnswer] {
        var answers: [StreamID: PollAnswer] = [:]
        var rest = subjects[...]
        while !rest.isEmpty {
            let part = rest.prefix(Poller.lookUpMax).map(\.stream)
            answers.merge(try await ledger.log.pollAnswers(about: part)) { $1 }
            rest = rest.dropFirst(Poller.lookUpMax)
        }
        return answers
    }

    /// Seconds after an answer before any process asks about a due subscription again.
    func pause(of subject: PollSubject, at now: Instant) -> Double {
        options.pauseSeconds ?? PollPause.seconds(of: subject, at: now)
    }

    // First customers with a subscription, then the remaining purchases: the answers about the
    // former show the customer of most of the latter.
    private func askAll(
        in environment: StoreEnvironment,
        _ report: inout PollReport,
        _ watch: PollWatch
    ) async throws {
        let begun = ContinuousClock.now
        let least = options.pauseSeconds ?? PollPause.plainSeconds
        let subscribers = try await ledger.log.customersToAsk(
            in: environment,
            subscribers: true,
            pause: least,
            limit: options.subscriptionsMax
        )
        report.select(subscribers)
        report.reasons[PollSubject.Reason.asked.rawValue, default: 0] += subscribers.recent
        report.skipped += subscribers.recent
        let hasEnded = try await ask(subscribers.streams, pauseSeconds: least, &report, watch)

        let room = options.subscriptionsMax - subscribers.streams.count
        // What another poller is asking about now may cover the rest too.
        guard !hasEnded, room > 0,
            try await ledger.log.subscriptionsHolder(in: environment) == nil
        else { return }
        let pause = max(least, (ContinuousClock.now - begun) / .seconds(1))
        let others = try await ledger.log.customersToAsk(
            in: environment,
            subscribers: false,
            pause: pause,
            after: subscribers,
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
        periodMilliseconds = due.periodMilliseconds
    }
}
