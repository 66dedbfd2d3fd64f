import AppStore
import CommandSupport
import Deliveries
import EventLog
import Logging
import ServiceLifecycle
import Subledger
import SubledgerAppStore
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
                "a notification was not forwarded",
                metadata: ["receiver": "\(target.address.url)", "error": "\(why)"]
            )
        }
    }

    /// Opens the ledger, and waits for its database.
    func open(_ policy: VerificationPolicy, _ logger: Logger) async throws -> Ledger {
        var options = try DatabaseOptions.logOptions()
        options.appendSecondsMax = appendSeconds
        let ledger = try await DatabaseWait(logger: logger).open(
            try await database.settings(),
            policy: policy,
            options: options
        )
        if let fault = ledger.log.durabilityFault { logger.warning("\(fault)") }
        if server.follows { try await ledger.projector.checkMayFollow() }
        return ledger
    }

    /// The work of the service beside answering requests.
    func services(
        of ledger: Ledger,
        _ polling: Polling?,
        _ credentials: ServerCredentials?,
        _ delivering: Delivering,
        _ logger: Logger
    ) -> [any Service] {
        let asked: [(any Service)?] = [polling, answering(ledger, credentials, logger)]
        return asked.compactMap(\.self) + [delivering]
    }
}
