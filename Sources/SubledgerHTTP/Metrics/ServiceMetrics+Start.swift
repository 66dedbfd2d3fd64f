internal import AppStore
internal import EventLog
internal import Events
internal import Metrics

extension ServiceMetrics {
    /// Where payloads come from: the routes, and the reasons for asking Apple.
    static let sources = ["notification", "client"] + AskedRound.reasons

    /// Statuses that a route is expected to answer with.
    private static let statuses = [200, 400, 401, 403, 404, 413, 429, 500, 503]

    /// Creates the series that exist from the start: a rate over a series that begins with its
    /// first event does not show that event.
    func createSeries(startedAt: Instant) {
        for name in [
            Name.wronglyDenied, .wronglyGranted, .notMeasured, .tokenReadings, .commits, .appends,
        ] {
            counter(name).increment(by: 0)
        }
        for name in [Name.waitingAppends, .poolWaiting, .databaseUp, .events, .checkpointAt] {
            set(name, 0)
        }
        for state in ["idle", "used"] { set(.poolConnections, 0, [("state", state)]) }
        for name in [Name.clockAhead, .diskFree, .diskSize, .consumerLag, .consumerAt] {
            measure(name, .nan)
        }
        set(.notificationAt, startedAt.milliseconds / 1000)
        _ = Recorder(label: Name.lag.rawValue, aggregate: true, factory: registry)

        for source in Self.sources {
            for outcome in ["appended", "duplicate", "erased"] {
                counter(.facts, [("source", source), ("outcome", outcome)]).increment(by: 0)
            }
        }
        for source in ["notification", "client"] {
            for reason in Rejection.Code.allCases {
                counter(.rejections, [("source", source), ("reason", reason.rawValue)])
                    .increment(by: 0)
            }
            for name in [Name.verifySeconds, .appendSeconds] {
                _ = timer(name, [("source", source)])
            }
        }
        createAppleSeries()
        createStateSeries()
    }

    private func createAppleSeries() {
        for reason in AskedRound.reasons {
            let labels = [("reason", reason)]
            for name in [Name.appleRounds, .appleRequests, .appleAnswers, .appleEvents] {
                counter(name, labels).increment(by: 0)
            }
            for error in AskedRound.errors {
                counter(.appleFailures, labels + [("error", error)]).increment(by: 0)
            }
        }
        for name in [Name.appleLeft, .appleWait, .appleOldestDue] { set(name, 0) }
    }

    /// Creates the series of a route.
    func create(_ method: String, _ route: String) {
        let labels = [("method", method), ("route", route)]
        for status in Self.statuses {
            counter(.requests, labels + [("status", "\(status)")]).increment(by: 0)
        }
        _ = timer(.requestSeconds, labels)
    }

    /// Creates the series of a projection's table; without a table there is nothing to be behind.
    func create(projection: String) {
        measure(.followerLag, .nan, [("projection", projection)])
    }
}
