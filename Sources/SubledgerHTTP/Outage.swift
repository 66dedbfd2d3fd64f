internal import EventLog
internal import HTTPTypes
internal import Logging
internal import Projector
internal import Synchronization

/// A time in which the database is unavailable, as its log lines describe it: one when it begins,
/// one a minute, one when it is over.
struct Outage {
    /// A line about it.
    enum Line: Hashable {
        case began
        case lasts(seconds: Int, failures: Int)
        case ended(seconds: Int, failures: Int)
    }

    private var beganAt: ContinuousClock.Instant?
    private var lineAt: ContinuousClock.Instant?
    private var failures = 0
    private var failuresSeen = 0

    /// Whether it has begun and is not known to be over.
    var isUnderWay: Bool { beganAt != nil }

    /// The pause between two lines while it lasts.
    static let lineInterval = Duration.seconds(60)

    /// Something failed because of it.
    mutating func fail(at now: ContinuousClock.Instant) -> Line? {
        failures += 1
        guard beganAt == nil else { return nil }
        (beganAt, lineAt) = (now, now)
        return .began
    }

    /// Someone looked whether it is over: the database answers, and nothing failed since the look
    /// before.
    mutating func look(isAvailable: Bool, at now: ContinuousClock.Instant) -> Line? {
        guard let beganAt, let lineAt else { return nil }
        let isOver = isAvailable && failures == failuresSeen
        let (seconds, failures) = (Int((now - beganAt) / .seconds(1)), failures)
        if isOver {
            self = Outage()
            return .ended(seconds: seconds, failures: failures)
        }
        failuresSeen = failures
        guard now - lineAt >= Outage.lineInterval else { return nil }
        self.lineAt = now
        return .lasts(seconds: seconds, failures: failures)
    }
}

/// Writes the log lines of outages, instead of one for each failure.
final class OutageLog: Sendable {
    private let logger: Logger
    private let lookInterval: Duration
    private let isAvailable: @Sendable () async -> Bool
    private let outage = Mutex(Outage())

    /// A log of outages.
    ///
    /// - Parameters:
    ///   - logger: Writes the lines.
    ///   - lookInterval: The pause between two looks whether an outage is over.
    ///   - isAvailable: Looks.
    init(
        _ logger: Logger,
        lookInterval: Duration,
        isAvailable: @escaping @Sendable () async -> Bool
    ) {
        self.logger = logger
        self.lookInterval = lookInterval
        self.isAvailable = isAvailable
    }

    /// Whether an error shows that the database is unavailable; then it is part of an outage.
    func takes(_ error: any Error) -> Bool {
        let isUnavailable =
            switch error {
            case let error as EventLogError: Problem(error).status == .serviceUnavailable
            case let error as ProjectorError: error.isPassing
            // What took too long meanwhile.
            case let problem as Problem:
                problem.status == .serviceUnavailable && outage.withLock { $0.isUnderWay }
            default: false
            }
        guard isUnavailable else { return false }
        guard outage.withLock({ $0.fail(at: .now) }) != nil else { return true }
        logger.error("the database is unavailable", metadata: ["error": "\(error)"])
        Task { [weak self, lookInterval] in
            while await self?.isStillOut() == true {
                do { try await Task.sleep(for: lookInterval) } catch { return }
            }
        }
        return true
    }

    /// Logs an error, unless it is part of an outage.
    func log(_ message: Logger.Message, _ error: any Error, level: Logger.Level = .warning) {
        guard !takes(error) else { return }
        logger.log(level: level, message, metadata: ["error": "\(error)"])
    }

    private func isStillOut() async -> Bool {
        let isAvailable = await isAvailable()
        switch outage.withLock({ $0.look(isAvailable: isAvailable, at: .now) }) {
        case .ended(let seconds, let failures):
            logger.notice(
                "the database is available again",
                metadata: ["seconds": "\(seconds)", "failures": "\(failures)"]
            )
            return false
        case .lasts(let seconds, let failures):
            logger.error(
                "the database is still unavailable",
                metadata: ["seconds": "\(seconds)", "failures": "\(failures)"]
            )
        case .began, nil: break
        }
        return true
    }
}
