internal import EventLog
internal import Logging
internal import ServiceLifecycle
internal import Subledger

/// Removes what was stored about who asked once its time is over, while the service runs.
struct AuditRetention: Service {
    private let routes: LedgerRoutes

    /// How much longer than its time an entry may be stored.
    private static let interval = Duration.seconds(3600)

    init(_ routes: LedgerRoutes) { self.routes = routes }

    func run() async throws {
        var isStopped = false
        while !isStopped, !Task.isCancelled {
            do {
                try await routes.ledger.log.forgetAudits()
            } catch {
                routes.outages.log("old entries of the audit were not removed", error)
            }
            do {
                try await cancelWhenGracefulShutdown {
                    try await Task.sleep(for: AuditRetention.interval)
                }
            } catch {
                isStopped = true
            }
        }
    }
}
