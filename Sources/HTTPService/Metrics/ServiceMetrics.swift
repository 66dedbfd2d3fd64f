internal import AppStore
internal import Events
internal import HTTPTypes
internal import Metrics
internal import Subledger

/// What the service counts and measures; never with a customer's id in a label.
struct ServiceMetrics: Sendable {
    /// Where it is kept.
    let registry = PrometheusRegistry(descriptions: descriptions)

    static let requests = "subledger_http_requests_total"
    static let requestSeconds = "subledger_http_request_duration_seconds"
    private static let ingestSeconds = "subledger_ingest_duration_seconds"
    private static let facts = "subledger_facts_total"
    static let rejections = "subledger_rejections_total"
    private static let tokenReadings = "subledger_token_readings_total"
    static let lag = "subledger_notification_lag_seconds"

    private static let descriptions = [
        requests: "Requests that were answered, by route and status.",
        requestSeconds: "From a request to its answer.",
        facts: "Facts that payloads stated, by source and by what became of them.",
        rejections: "Payloads that were refused, by source and reason.",
        tokenReadings: "Times that the access tokens were read from the database.",
        ingestSeconds: "From a payload to its commit: verification, append, flush.",
        lag: "From the date that Apple signed a notification to its arrival here.",
    ]

    /// Counts a request.
    func record(
        _ method: String,
        _ route: String,
        _ status: HTTPResponse.Status,
        for duration: Duration
    ) {
        let labels = [("method", method), ("route", route)]
        Counter(
            label: ServiceMetrics.requests,
            dimensions: labels + [("status", "\(status.code)")],
            factory: registry
        ).increment()
        Timer(label: ServiceMetrics.requestSeconds, dimensions: labels, factory: registry)
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// Counts that the tokens were read.
    func countTokenReading() {
        Counter(label: ServiceMetrics.tokenReadings, factory: registry).increment()
    }

    /// Counts what became of a payload.
    func count(_ taken: Ledger.Ingestion, source: String, at receivedAt: Instant) {
        for outcome in taken.outcomes {
            let word = outcome.isErased ? "erased" : outcome.isNew ? "appended" : "duplicate"
            Counter(
                label: ServiceMetrics.facts,
                dimensions: [("source", source), ("outcome", word)],
                factory: registry
            ).increment()
        }
        for fact in taken.facts where fact.kind == .notification {
            let lag = receivedAt.milliseconds - fact.asOf.milliseconds
            Recorder(label: ServiceMetrics.lag, aggregate: true, factory: registry)
                .record(Double(max(0, lag)) / 1000)
        }
    }

    /// Measures how long a payload took to be durable.
    func recordIngest(source: String, for duration: Duration) {
        Timer(
            label: ServiceMetrics.ingestSeconds,
            dimensions: [("source", source)],
            factory: registry
        )
        .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// Counts a payload that was refused.
    func count(_ rejection: Rejection, source: String) {
        Counter(
            label: ServiceMetrics.rejections,
            dimensions: [("source", source), ("reason", rejection.code.rawValue)],
            factory: registry
        ).increment()
    }
}
