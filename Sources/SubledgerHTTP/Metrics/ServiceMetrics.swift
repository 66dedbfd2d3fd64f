internal import AppStore
internal import EventLog
internal import Events
internal import HTTPTypes
internal import Metrics
internal import Projector
internal import Subledger

/// The counts and measurements of the service; never with a customer's id in a label.
struct ServiceMetrics: Sendable {
    /// The registry that stores them.
    let registry = PrometheusRegistry(
        descriptions: Dictionary(
            uniqueKeysWithValues: Name.allCases.map { ($0.rawValue, $0.description) }
        )
    )

    /// The metrics.
    enum Name: String, CaseIterable {
        case requests = "subledger_http_requests_total"
        case requestSeconds = "subledger_http_request_duration_seconds"
        case facts = "subledger_facts_total"
        case rejections = "subledger_rejections_total"
        case verifySeconds = "subledger_verify_duration_seconds"
        case appendSeconds = "subledger_append_duration_seconds"
        case lag = "subledger_notification_lag_seconds"
        case notificationAt = "subledger_last_notification_timestamp_seconds"
        case checkpointAt = "subledger_checkpoint_timestamp_seconds"
        case clockAhead = "subledger_clock_skew_seconds"
        case diskFree = "subledger_database_disk_free_bytes"
        case diskSize = "subledger_database_disk_size_bytes"
        case wronglyDenied = "subledger_wrongly_denied_seconds_total"
        case wronglyGranted = "subledger_wrongly_granted_seconds_total"
        case notMeasured = "subledger_wrong_answers_not_measured_total"
        case tokenReadings = "subledger_token_readings_total"
        case commits = "subledger_commits_total"
        case appends = "subledger_appends_total"
        case waitingAppends = "subledger_appends_waiting"
        case poolConnections = "subledger_pool_connections"
        case poolWaiting = "subledger_pool_waiting"
        case databaseUp = "subledger_database_up"
        case appendFault = "subledger_append_fault"
        case clientFaults = "subledger_client_faults_total"
        case limited = "subledger_notifications_limited_total"
        case rejectionRows = "subledger_rejections_rows"
        case rejectionRowsLimit = "subledger_rejections_limit_rows"
        case rejectionBytes = "subledger_rejections_bytes"
        case rejectionBytesLimit = "subledger_rejections_limit_bytes"
        case rejectionsOmitted = "subledger_rejections_omitted_total"
        case residentMemory = "process_resident_memory_bytes"
        case events = "subledger_log_events"
        case followerLag = "subledger_follower_lag_events"
        case consumerLag = "subledger_consumer_lag_events"
        case consumerAt = "subledger_consumer_acknowledged_timestamp_seconds"
        case appleRounds = "subledger_apple_rounds_total"
        case appleRequests = "subledger_apple_requests_total"
        case appleAnswers = "subledger_apple_answers_total"
        case appleFailures = "subledger_apple_failures_total"
        case appleEvents = "subledger_apple_new_events_total"
        case appleLeft = "subledger_apple_left_subscriptions"
        case appleWait = "subledger_apple_wait_seconds"
        case appleOldestDue = "subledger_apple_oldest_due_seconds"
        case webhookAttempts = "subledger_webhook_attempts_total"
    }

    /// Metrics without events so far.
    init(startedAt: Instant) { createSeries(startedAt: startedAt) }

    func counter(_ name: Name, _ labels: [(String, String)] = []) -> Counter {
        Counter(label: name.rawValue, dimensions: labels, factory: registry)
    }

    func timer(_ name: Name, _ labels: [(String, String)]) -> Timer {
        Timer(label: name.rawValue, dimensions: labels, factory: registry)
    }

    /// The value of a counter or a gauge, as a whole number; 0 if it has none.
    func value(_ name: Name, _ labels: [(String, String)] = []) -> Int64 {
        registry.value(name.rawValue, labels).flatMap(Int64.init(exactly:)) ?? 0
    }

    func set(_ name: Name, _ value: Int64, _ labels: [(String, String)] = []) {
        Meter(label: name.rawValue, dimensions: labels, factory: registry).set(value)
    }

    func measure(_ name: Name, _ value: Double, _ labels: [(String, String)] = []) {
        Meter(label: name.rawValue, dimensions: labels, factory: registry).set(value)
    }
}

extension ServiceMetrics {
    /// Counts a request.
    func record(
        _ method: String,
        _ route: String,
        _ status: HTTPResponse.Status,
        for duration: Duration
    ) {
        let labels = [("method", method), ("route", route)]
        counter(.requests, labels + [("status", "\(status.code)")]).increment()
        timer(.requestSeconds, labels).recordNanoseconds(duration.nanoseconds)
    }

    /// Counts the outcome of a payload, and measures how long it took.
    func count(_ taken: Ledger.Ingestion, source: String, at receivedAt: Instant) {
        for outcome in taken.outcomes {
            let word = outcome.isErased ? "erased" : outcome.isNew ? "appended" : "duplicate"
            counter(.facts, [("source", source), ("outcome", word)]).increment()
        }
        if let timing = taken.timing {
            let labels = [("source", source)]
            timer(.verifySeconds, labels).recordNanoseconds(timing.verification.nanoseconds)
            timer(.appendSeconds, labels).recordNanoseconds(timing.append.nanoseconds)
        }
        if source == LedgerRoutes.notificationSource {
            set(.notificationAt, receivedAt.milliseconds / 1000)
        }
        for fact in taken.facts where fact.kind == .notification {
            let lag = receivedAt.milliseconds - fact.asOf.milliseconds
            Recorder(label: Name.lag.rawValue, aggregate: true, factory: registry)
                .record(Double(max(0, lag)) / 1000)
        }
    }

    /// Counts a payload that was refused.
    func count(_ rejection: Rejection, source: String) {
        counter(.rejections, [("source", source), ("reason", rejection.code.rawValue)]).increment()
    }

    /// Counts a reading of the tokens.
    func countTokenReading() { counter(.tokenReadings).increment() }

    /// Counts seconds in which access was answered wrongly because payloads arrived late.
    func countWrong(denied: Int64, granted: Int64) {
        counter(.wronglyDenied).increment(by: denied)
        counter(.wronglyGranted).increment(by: granted)
    }

    /// Counts questions to Apple.
    func count(_ round: AskedRound) {
        let labels = [("reason", round.reason)]
        counter(.appleRounds, labels).increment()
        counter(.appleRequests, labels).increment(by: round.requests)
        counter(.appleAnswers, labels).increment(by: round.answers)
        for (error, count) in round.failures {
            counter(.appleFailures, labels + [("error", error)]).increment(by: count)
        }
        counter(.appleEvents, labels).increment(by: round.newEvents)
        for (outcome, count) in [("appended", round.newEvents), ("duplicate", round.duplicates)] {
            counter(.facts, [("source", round.reason), ("outcome", outcome)]).increment(by: count)
        }
        if let left = round.left { set(.appleLeft, Int64(left)) }
        if let seconds = round.oldestDueSeconds {
            set(.appleOldestDue, Int64(seconds.rounded(.up)))
        }
        set(.appleWait, Int64(round.secondsToWait.rounded(.up)))
    }

    /// Counts late subscriptions that were not measured.
    func countNotMeasured(_ count: Int) { counter(.notMeasured).increment(by: count) }
}

extension ServiceMetrics {
    /// Seconds for what is read from the database for the metrics.
    private static let readSecondsMax = 3.0
    /// The most consumers that are measured, by name: each is a label.
    private static let consumersMax = 100

    /// Reads the values that are not counted per request.
    ///
    /// - Parameters:
    ///   - ledger: The ledger; if its database is unavailable, the last values stay.
    ///   - isFollowing: Whether this service keeps the tables up to date, so each should exist.
    /// - Returns: The error of the database; nil if there was none.
    func collect(from ledger: Ledger, isFollowing: Bool) async -> (any Error)? {
        let statistics = await ledger.log.statistics()
        registry.setCounter(Name.commits.rawValue, to: statistics.commits)
        registry.setCounter(Name.appends.rawValue, to: statistics.appends)
        set(.waitingAppends, Int64(statistics.waitingAppends))
        set(.poolConnections, Int64(statistics.readersIdle), [("state", "idle")])
        set(
            .poolConnections,
            Int64(statistics.readersOpen - statistics.readersIdle),
            [("state", "used")]
        )
        set(.poolWaiting, Int64(statistics.waitingReads))
        setMemory()

        do {
            // Whoever reads the metrics gives up soon, and gets the rest in any case.
            try await AnswerLimit(seconds: ServiceMetrics.readSecondsMax).run {
                set(try await ledger.log.storedRejections(), statistics.omittedRejections)
                let events = try await ledger.log.heads().values.reduce(0) { $0 + $1.offset }
                set(.events, events)
                if isFollowing {
                    for name in ledger.projector.usualNames {
                        set(.followerLag, events, [("projection", name)])
                    }
                }
                for table in try await ledger.projector.tables() where table.state == .live {
                    set(.followerLag, table.lag, [("projection", table.name)])
                }
                set(try await ledger.log.watchedDatabase())
                set(try await ledger.log.consumers(limit: ServiceMetrics.consumersMax))
            }
            return nil
        } catch {
            return error
        }
    }
}

extension ServiceMetrics {
    // One that was removed has no values any more.
    private func set(_ consumers: [ConsumerPlace]) {
        func replace(_ name: Name, _ value: (ConsumerPlace) -> Double) {
            let none = (labels: [(String, String)](), value: Double.nan)
            registry.replaceGauges(
                name.rawValue,
                with: [none] + consumers.map { ([("consumer", $0.name)], value($0)) }
            )
        }
        replace(.consumerLag) { $0.lag.map(Double.init) ?? .nan }
        replace(.consumerAt) { Double($0.acknowledgedAt.milliseconds / 1000) }
    }

    private func set(_ database: WatchedDatabase) {
        measure(.clockAhead, database.clockAheadSeconds)
        set(.checkpointAt, (database.checkpointTakenAt?.milliseconds ?? 0) / 1000)
        if let space = database.dataFolder.flatMap(DiskSpace.init(of:)) {
            set(.diskFree, space.freeBytes)
            set(.diskSize, space.bytes)
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { Int64(self / .nanoseconds(1)) }
}

extension ServiceMetrics.Name: CustomStringConvertible {
    /// Its meaning.
    var description: String {
        switch self {
        case .requests: "Answered requests, by route and status."
        case .requestSeconds: "From a request to its answer."
        case .facts: "Facts that payloads stated, by source and outcome."
        case .rejections: "Refused payloads, by source and reason."
        case .verifySeconds: "Time to verify an accepted payload: signatures and content."
        case .appendSeconds: "From a verified payload to its commit: queue, look-up, flush."
        case .lag: "From the date that Apple signed a notification to its arrival here."
        case .wronglyDenied: "Seconds for which access was denied because payloads came late."
        case .notificationAt:
            "When this process accepted its last notification; its start, if it accepted none."
        case .checkpointAt: "When the newest checkpoint in the ledger was taken; 0 for none."
        case .clockAhead: "How far the database's clock is ahead of this machine's."
        case .diskFree: "Free bytes of the database's disk; NaN if it is not on this machine."
        case .diskSize: "Bytes of the database's disk; NaN if it is not on this machine."
        case .wronglyGranted: "Seconds for which access was granted because payloads came late."
        case .notMeasured: "Late subscriptions whose wrong answers were not measured."
        case .tokenReadings: "How often the access tokens were read from the database."
        case .commits: "Commits of this process."
        case .appends: "Payloads that this process appended; several may share a commit."
        case .waitingAppends: "Payloads that wait for a commit."
        case .poolConnections: "Connections for reading, by state."
        case .poolWaiting: "Reads that wait for a connection."
        case .databaseUp: "Whether the database would accept an append."
        case .appendFault: "Why the database would not accept an append: 1 for the reason."
        case .limited: "Notifications refused before they were read, by limit."
        case .rejectionRows: "Stored refusals, by what the payload shows of its origin."
        case .rejectionRowsLimit: "Stored refusals from which on no more are stored, by standing."
        case .rejectionBytes: "Bytes of stored refused payloads, by standing."
        case .rejectionBytesLimit: "Bytes from which on no more payloads are stored, by standing."
        case .rejectionsOmitted: "Refusals not stored, or stored without bytes, by standing."
        case .residentMemory: "Memory of this process, in bytes."
        case .clientFaults: "Requests that are not valid HTTP, or too slow, and reach no route."
        case .events: "Events in the log."
        case .followerLag: "Events that are not yet in the live table of a projection."
        case .consumerLag:
            "Events that a consumer has not acknowledged; NaN if the log lacks its place."
        case .consumerAt: "When a consumer last acknowledged something."
        case .appleRounds: "Rounds of questions to Apple, by reason: poll, backfill, refresh."
        case .appleRequests: "Requests that Apple answered, refusals included, by reason."
        case .appleAnswers: "Subscriptions that Apple answered about, by reason."
        case .appleFailures:
            "Requests that Apple did not answer, by reason and class of the error."
        case .appleEvents: "Events that Apple's answers added, by reason."
        case .appleLeft: "Subscriptions that the last round left for the next."
        case .appleWait: "Seconds until Apple may be asked again, by its rate limits."
        case .webhookAttempts: "Attempts to deliver a message, by webhook and outcome."
        case .appleOldestDue:
            "Seconds that the due subscription that waits longest has waited beyond its pause."
        }
    }
}
