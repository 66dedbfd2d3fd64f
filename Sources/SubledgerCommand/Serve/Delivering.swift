import Deliveries
import EventLog
import Logging
import ServiceLifecycle
import Subledger
import SubledgerHTTP

/// What leaves by itself while the service runs: webhooks, forwarded notifications, alerts.
struct Delivering: Service {
    let webhooks: Webhooks
    let forwarding: Forwarding?
    let alerts: AlertWatch

    init(
        _ ledger: Ledger,
        forwarding: Forwarding?,
        alerts: AlertWatch,
        routes: LedgerRoutes,
        logger: Logger
    ) {
        self.forwarding = forwarding
        self.alerts = alerts
        webhooks = Webhooks(
            ledger,
            onProgress: { name, progress in
                routes.count(webhook: name, delivered: progress.delivered, failed: progress.failed)
            },
            onNotice: { logger.warning("\($0)") }
        )
    }

    func run() async throws {
        let stop = StopFlag()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await webhooks.run(until: stop) }
                group.addTask { await alerts.run(until: stop) }
                if let forwarding { group.addTask { await forwarding.run(until: stop) } }
            }
        } onGracefulShutdown: {
            stop.set()
        }
    }
}

extension ServePlan {
    /// Forwards notifications; nil if there is no receiver.
    func forwarding(of ledger: Ledger, _ logger: Logger) -> Forwarding? {
        guard !forward.isEmpty else { return nil }
        return Forwarding(ledger, to: forward) { target, why in
            logger.warning(
                "a notification was not forwarded, and is sent again",
                metadata: ["receiver": "\(target.address.url)", "error": "\(why)"]
            )
        }
    }
}
