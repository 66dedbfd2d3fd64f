internal import AppStore
internal import EventLog
public import Events
public import Subledger

/// Asks Apple what no notification said, and takes the answers into a ledger.
///
/// First for the notifications that did not reach the server, then about subscriptions, the most
/// urgent first: their statuses, and what changed in their history since the last answer. Several
/// pollers share the work by leases. Answers come over TLS from Apple and are signed; they are
/// verified like every payload, and what they repeat is not appended again.
public struct Poller: Sendable {
    let ledger: Ledger
    let client: AppStoreServerClient
    let options: Options
    let clock: @Sendable () -> Instant

    /// The channel that is kept with what was asked for.
    public static let source = "app-store-server-api"

    /// How a poller works.
    public struct Options: Sendable {
        /// The environments that Apple is asked about.
        public var environments: [Environment] = [.production, .sandbox]
        /// Subscriptions that are asked about at once.
        public var concurrency = 8
        /// Most subscriptions of one round; those that are less urgent are left for the next.
        public var subscriptionsMax = 100_000
        /// Seconds after an answer before which nobody asks about the same again.
        public var pauseSeconds = 600.0
        /// Seconds after which another poller may take over from one that is silent.
        public var leaseSeconds = 300.0
        /// Questions in a row that may find nobody at Apple before the round ends.
        public var unavailableMax = 5
        /// This poller, in words that no two share.
        public var holder: String

        /// The defaults.
        public init(holder: String) {
            self.holder = holder
        }
    }

    /// A poller.
    ///
    /// - Parameters:
    ///   - ledger: Where the answers go.
    ///   - client: Who asks.
    ///   - options: How it works.
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

    /// One round.
    ///
    /// What was taken stays, whatever ends the round.
    ///
    /// - Parameters:
    ///   - selection: Whom to ask about.
    ///   - isStopped: Asked before each subscription; true finishes those under way and ends.
    ///   - progress: Told after each subscription how many are done, and of how many.
    /// - Returns: What it came to.
    /// - Throws: `ServerError` with the code `credentials`; `EventLogError`.
    public func poll(
        _ selection: PollSelection,
        isStopped: @escaping @Sendable () -> Bool = { false },
        progress: (Int, Int) -> Void = { _, _ in }
    ) async throws -> PollReport {
        var report = PollReport()
        switch selection {
        case .ids(let ids):
            report.reasons[PollSubject.Reason.asked.rawValue] = ids.count
            try await ask(ids, &report, isStopped, progress)
        case .due, .all:
            for environment in options.environments {
                try await askForMissedNotifications(in: environment, &report)
            }
            // What was missed may have ended some of them, and begun others.
            let selected = try await selected(selection, &report)
            try await ask(selected, &report, isStopped, progress)
        }
        return report
    }

    private func selected(
        _ selection: PollSelection,
        _ report: inout PollReport
    ) async throws -> [PollSubject] {
        let urgent = UrgentSubjects(countMax: options.subscriptionsMax)
        let environments = Set(options.environments)
        switch selection {
        case .due(let milliseconds):
            let unreadable = try await ledger.forEachDue(
                at: clock(),
                withinMilliseconds: milliseconds
            ) { due in
                guard environments.contains(due.environment) else { return }
                urgent.add(PollSubject(due))
            }
            report.unreadable = unreadable.count
        case .all:
            try await ledger.forEachStream { stream in
                guard environments.contains(stream.environment) else { return }
                urgent.add(PollSubject(stream))
            }
        case .ids: break
        }
        let (subjects, left, reasons) = urgent.finish()
        report.left = left
        report.reasons = reasons
        return subjects
    }
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

    fileprivate init(_ document: StreamDocument) {
        stream = StreamID(
            environment: document.environment,
            originalTransactionId: document.originalTransactionId
        )
        reason = .asked
        accessEnd = nil
    }
}
