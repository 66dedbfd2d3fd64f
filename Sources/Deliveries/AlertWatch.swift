internal import EventLog
package import Events
internal import Foundation
package import Subledger
internal import Synchronization

/// Looks at a ledger from time to time, raises alerts, and ends those that are over.
///
/// What lasts is raised once, however many services look.
package final class AlertWatch: Sendable {
    private let ledger: Ledger
    private let hasTables: Bool
    private let onFault: @Sendable (any Error) -> Void
    private let clock: @Sendable () -> Instant

    /// The limits from which on something is an alert.
    package struct Limits: Sendable {
        /// Refunds in a day, and how many times as many as usual.
        package var refunds: Int64 = 10
        package var refundsFactor = 5.0
        /// Milliseconds without a notification.
        package var silence: Int64 = 86_400_000
        /// Events that a table lacks, twice in a row.
        package var lag: Int64 = 10_000
        /// Seconds between two clocks.
        package var skew = 60.0

        /// The defaults.
        package init() {}
    }

    private let limits: Limits
    // Each machine has its own clock.
    private let host: String
    private let state = Mutex(State())

    private struct State {
        // Whether this process asks Apple: another one may ask, and be refused.
        var asksApple = false
        // What Apple last refused; nil if it answered.
        var refusal: String?
        // The tables that lagged when it last looked.
        var lagging: Set<String> = []
        var driftCheckedAt: Instant?
        // Before then, the newest notification is not looked for.
        var silenceDueAt: Instant?
    }

    /// How often most of it is looked at, and how often what reads the whole log, in milliseconds.
    private static let interval: Int64 = 60_000
    private static let driftInterval: Int64 = 86_400_000
    /// How often the newest notification is looked for.
    private static let silenceInterval: Int64 = 600_000

    /// A watch.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - hasTables: Whether tables are kept up to date, so that their lag counts.
    ///   - limits: From when on something is an alert.
    ///   - host: The name of this machine.
    ///   - clock: Our clock.
    ///   - onFault: Receives why something could not be looked at.
    package init(
        _ ledger: Ledger,
        hasTables: Bool,
        limits: Limits = Limits(),
        host: String = ProcessInfo.processInfo.hostName,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        (self.ledger, self.hasTables, self.limits) = (ledger, hasTables, limits)
        self.host = host
        (self.clock, self.onFault) = (clock, onFault)
    }

    /// Looks every minute until it is stopped.
    package func run(until stop: StopFlag) async {
        var next = clock()
        while !stop.isSet, !Task.isCancelled {
            if clock() >= next {
                await look()
                next = Instant(milliseconds: clock().milliseconds + AlertWatch.interval)
            }
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// Notes what the last round of questions to Apple came to.
    ///
    /// - Parameter refusal: Why Apple refuses to answer; nil if it does not.
    package func noteApple(refusal: String?) {
        state.withLock { ($0.asksApple, $0.refusal) = (true, refusal) }
    }

    /// Looks once at everything that is due.
    package func look() async {
        for check in [silence, refunds, drift, refusal, tables, clocks] {
            do { try await check() } catch { onFault(error) }
        }
    }

    private func set(
        _ kind: Alert.Kind,
        about subject: String = "",
        _ message: String?
    ) async throws {
        if let message {
            _ = try await ledger.log.raise(kind, about: subject, message)
        } else {
            try await ledger.log.resolve(kind, about: subject)
        }
    }

    // Reads the newest events, and without a notification all of them.
    private func silence() async throws {
        let now = clock()
        guard state.withLock({ $0.silenceDueAt.map { $0 <= now } ?? true }) else { return }
        let newest = try await ledger.log.newestNotification(in: .production)
        let pause = newest == nil ? AlertWatch.driftInterval : AlertWatch.silenceInterval
        state.withLock { $0.silenceDueAt = Instant(milliseconds: now.milliseconds + pause) }
        guard let newest else { return }

        let isSilent = now.milliseconds - newest.milliseconds > limits.silence
        try await set(
            .notificationsSilent,
            about: StoreEnvironment.production.word,
            isSilent ? "the newest notification was signed at \(newest)" : nil
        )
    }

    private func refunds() async throws {
        guard let found = try await ledger.log.refundsOfLastDay() else { return }
        let isBurst =
            found.today >= limits.refunds
            && Double(found.today) > limits.refundsFactor * found.usual
        let usual = (found.usual * 10).rounded() / 10
        try await set(
            .refundsBurst,
            about: StoreEnvironment.production.word,
            isBurst
                ? "\(found.today) purchases were refunded in the last day; the four weeks before had "
                    + "\(usual) a day" : nil
        )
    }

    // Reads the whole log, so once a day.
    private func drift() async throws {
        let now = clock()
        let isDue = state.withLock { state in
            guard let last = state.driftCheckedAt else {
                // Not at once: a service that starts has other work.
                state.driftCheckedAt = Instant(
                    milliseconds: now.milliseconds - AlertWatch.driftInterval
                        + AlertWatch.driftDelay
                )
                return false
            }
            guard now.milliseconds - last.milliseconds >= AlertWatch.driftInterval else {
                return false
            }
            state.driftCheckedAt = now
            return true
        }
        if isDue { try await checkDrift() }
    }

    private static let driftDelay: Int64 = 600_000

    /// Compares the answers with all statements of Apple.
    package func checkDrift() async throws {
        let found = try await ledger.drift(limit: 1)
        let different = found.checked - found.agreeing
        try await set(
            .drift,
            different > 0
                ? "\(different) of \(found.checked) of Apple's statements differ from what the ledger "
                    + "computes" : nil
        )
    }

    private func refusal() async throws {
        let (asksApple, refusal) = state.withLock { ($0.asksApple, $0.refusal) }
        if asksApple { try await set(.appleRefused, refusal) }
    }

    private func tables() async throws {
        guard hasTables else { return }
        let behind = try await ledger.projector.tables().filter {
            $0.state == .live && !$0.isForeign && $0.lag > limits.lag
        }
        let names = Set(behind.map(\.name))
        // A table that is behind for a moment catches up by itself.
        let before = state.withLock { state in
            defer { state.lagging = names }
            return state.lagging
        }
        let lasting = behind.filter { before.contains($0.name) }
        try await set(
            .followerBehind,
            lasting.isEmpty
                ? nil
                : "tables lack events of the log: "
                    + lasting.map { "\($0.name) \($0.lag)" }.joined(separator: ", ")
        )
    }

    private func clocks() async throws {
        let ahead = try await ledger.log.watchedDatabase(clock).clockAheadSeconds
        try await set(
            .clockSkew,
            about: host,
            abs(ahead) > limits.skew
                ? "the clock of the database server is \(Int(abs(ahead).rounded())) s "
                    + "\(ahead > 0 ? "ahead of" : "behind") this machine's" : nil
        )
    }
}
