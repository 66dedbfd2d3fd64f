internal import EventLog
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Subledger
internal import Synchronization

/// Whether the service accepts requests.
struct ReadinessDocument: Encodable, Sendable {
    /// Whether it does.
    let ready: Bool
    /// The checks.
    let checks: [Check]

    /// One condition of readiness.
    struct Check: Encodable, Sendable {
        /// Its name.
        let name: String
        /// Whether it is met.
        let ok: Bool
        /// What was found, if it is not or only in part.
        let detail: String?
    }
}

extension LedgerRoutes {
    /// `GET /livez`, `/readyz`, `/metrics`.
    func addHealth(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/livez", of: router, for: nil) { _ in .text("ok\n", "text/plain") }
        on(.get, "/readyz", of: router, for: nil) { _ in
            let checks = [await append(), lifecycle()] + tables()
            let isReady = checks.allSatisfy(\.ok)
            var response = try Response.json(
                ReadinessDocument(ready: isReady, checks: checks),
                status: isReady ? .ok : .serviceUnavailable
            )
            if !isReady { response.headers[.retryAfter] = "\(Problem.retrySeconds)" }
            return response
        }
        on(.get, "/metrics", of: router, for: .support, or: .operator) { call in
            metrics.set(await appends.fault())
            if let error = await metrics.collect(
                from: ledger,
                isFollowing: state.isFollowing.load(ordering: .relaxed)
            ) {
                outages.log("some metrics could not be updated", error)
            }
            return .text(metrics.registry.exposition(), PrometheusRegistry.mediaType)
        }
    }

    private func append() async -> ReadinessDocument.Check {
        let fault = await appends.fault()
        // Without some lanes, requests that need only the others are answered.
        return ReadinessDocument.Check(
            name: "append",
            ok: fault == nil || fault == .lanesUnavailable,
            detail: fault?.rawValue
        )
    }

    // Notifications and questions do not need the tables, so they do not decide.
    private func tables() -> [ReadinessDocument.Check] {
        guard state.isFollowing.load(ordering: .relaxed) else { return [] }
        let fault = state.followFault.withLock { $0 }
        return [ReadinessDocument.Check(name: "tables", ok: true, detail: fault)]
    }

    private func lifecycle() -> ReadinessDocument.Check {
        ReadinessDocument.Check(
            name: "lifecycle",
            ok: !isDraining,
            detail: isDraining ? "shutting down" : nil
        )
    }
}
