import Deliveries
import EventLog
import Events
import Logging
import ServiceLifecycle
import Subledger
import SubledgerAppStore
import SubledgerHTTP

/// Asks Apple while the service runs: first for what was missed before, then in rounds.
struct Polling: Service {
    let asking: Asking
    let routes: LedgerRoutes
    let alerts: AlertWatch
    let logger: Logger

    /// The poller and its settings.
    struct Asking: Sendable {
        let poller: Poller
        let client: AppStoreServerClient
        let options: Options
    }

    /// When it asks.
    struct Options: Sendable {
        /// Milliseconds from the end of a round to the next.
        var interval: Int64 = 900_000
        /// Milliseconds after an answer before any process asks about the same again; nil for a
        /// pause by urgency.
        var pause: Int64?
        /// Notifications that Apple signed within this time may arrive in any order, in
        /// milliseconds.
        static let disorder: Int64 = 3_600_000

        /// How far a round looks ahead, in milliseconds.
        var within: Int64 = 86_400_000
        /// When something may first have been missed before the program started.
        var missedSince: [StoreEnvironment: Instant] = [:]
    }

    /// The class of a failure of the ledger, not of Apple.
    private static let ledgerFault = "ledger"

    /// The limits of the client in a service: a stop must not wait for a rate limit.
    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.rateLimitSecondsMax = 5
        limits.answerSecondsMax = 20
        limits.attemptsMax = 3
        return limits
    }

    func run() async throws {
        let isStopped = StopFlag()
        await withGracefulShutdownHandler {
            var missedSince = asking.options.missedSince
            while !isStopped.isSet, !Task.isCancelled {
                var retryAt: Instant?
                do {
                    for (environment, since) in missedSince where !isStopped.isSet {
                        let report = try await asking.poller.limited(to: environment)
                            .backfill(.since(since), isStopped: { isStopped.isSet })
                        await note(report.asked, "backfill")
                        if report.isComplete { missedSince[environment] = nil }
                    }

                    let report = try await asking.poller.poll(
                        .due(withinMilliseconds: asking.options.within),
                        isStopped: { isStopped.isSet }
                    )
                    await note(report, "poll")
                    retryAt = report.retryAt
                } catch {
                    var round = AskedRound(reason: "poll")
                    let code = (error as? ServerError)?.code.rawValue
                    if code == ServerError.Code.credentials.rawValue {
                        alerts.noteApple(refusal: "\(error)")
                    }
                    round.fail(code ?? Polling.ledgerFault)
                    routes.count(round)
                    logger.error("asking Apple failed", metadata: ["error": "\(error)"])
                }
                await pause(until: retryAt)
            }
        } onGracefulShutdown: {
            isStopped.set()
        }
        try await asking.client.close()
    }

    /// Counts a round, and writes its log line.
    private func note(_ report: PollReport, _ reason: String) async {
        let wait = await asking.client.secondsToWait()
        routes.count(AskedRound(report, reason: reason, secondsToWait: wait))
        if report.answered > 0 { alerts.noteApple(refusal: nil) }
        var metadata: Logger.Metadata = [
            "reason": "\(reason)", "answered": "\(report.answered)", "left": "\(report.left)",
            "requests": "\(report.requests)", "newEvents": "\(report.appended)",
            "newNotifications": "\(report.newNotifications)", "failed": "\(report.failed)",
            "rejected": "\(report.rejected)",
        ]
        if let retryAt = report.retryAt { metadata["retryAt"] = "\(retryAt)" }
        if let failure = report.failures.first { metadata["error"] = "\(failure.message)" }
        logger.log(
            level: report.failed > 0 || report.rejected > 0 ? .warning : .info,
            "asked Apple",
            metadata: metadata
        )
    }

    // If a rate limit ends before the interval does, the next round starts then.
    private func pause(until retryAt: Instant?) async {
        let wait = retryAt.map { $0.milliseconds - Instant.systemClock().milliseconds }
        let milliseconds = min(asking.options.interval, max(1000, wait ?? asking.options.interval))
        do {
            try await cancelWhenGracefulShutdown {
                try await Task.sleep(for: .milliseconds(milliseconds))
            }
        } catch {
            logger.debug("stop requested between two rounds")
        }
    }
}

extension ServePlan {
    /// The key for asking Apple; nil if Apple is not asked.
    func credentials() throws -> ServerCredentials? {
        polling == nil && consumption == nil ? nil : try apple.credentials(trust.bundleId)
    }

    /// The poller for asking Apple; nil if Apple is not asked.
    ///
    /// What was missed is determined now, before the first new notification arrives: the span since
    /// the newest one in the ledger. A heartbeat would not show what a restored backup lacks.
    func asking(
        _ ledger: Ledger,
        _ credentials: ServerCredentials?
    ) async throws -> Polling.Asking? {
        guard var polling, let credentials else { return nil }
        let options = Poller.Options(trust.environments, pause: polling.pause)
        for environment in options.environments {
            guard let newest = try await ledger.log.newestNotification(in: environment) else {
                continue
            }
            polling.missedSince[environment] = Instant(
                milliseconds: newest.milliseconds - Polling.Options.disorder
            )
        }
        let client = AppStoreServerClient(credentials, hosts: apple.hosts, limits: Polling.limits)
        return Polling.Asking(
            poller: Poller(ledger, client, options: options),
            client: client,
            options: polling
        )
    }
}

extension AskedRound {
    /// The counts of a report for the metrics.
    init(_ report: PollReport, reason: String, secondsToWait: Double) {
        self.init(reason: reason)
        requests = report.requests
        answers = report.answered
        newEvents = report.appended
        duplicates = report.duplicates
        failures = report.failedByReason
        if report.retryAt != nil { fail(ServerError.Code.rateLimited.rawValue) }
        // A backfill asks about more than what is due.
        if reason == "poll" { (left, oldestDueSeconds) = (report.left, report.oldestDueSeconds) }
        self.secondsToWait = secondsToWait
    }
}

extension CustomerRefresh {
    /// A refresh by a poller.
    init(_ poller: Poller, _ client: AppStoreServerClient) {
        let refresher = Refresher(poller)
        self.init { streams in
            do {
                switch try await refresher.refresh(streams) {
                case .asked(let report):
                    let round = AskedRound(
                        report.asked,
                        reason: "refresh",
                        secondsToWait: await client.secondsToWait()
                    )
                    return (Outcome(report), report.hasAsked ? round : nil)
                case .recent(let instant): return (.recent(answeredAt: instant), nil)
                case .held(let until, let why): return (.failed(why, retryAt: until), nil)
                case .busy: return (.busy, nil)
                }
            } catch let error as ServerError {
                var round = AskedRound(reason: "refresh")
                round.fail(error.code.rawValue)
                return (.failed(error.message, retryAt: nil), round)
            }
        }
    }
}

extension CustomerRefresh.Outcome {
    fileprivate init(_ report: RefreshReport) {
        let asked = report.asked
        if report.isRateLimited {
            self = .rateLimited(retryAt: asked.retryAt)
        } else if asked.answered > 0, let instant = report.answeredAt {
            // Perhaps not about all: what Apple does not know now, it will not know the next time
            // either.
            self = .answered(appended: asked.appended, at: instant)
        } else {
            self = .failed(asked.failures.first?.message ?? "no answer", retryAt: nil)
        }
    }
}
