import Events
import Logging
import ServiceLifecycle
import Subledger
import SubledgerHTTP

/// Delivers the payloads of a synthetic App Store while the service of its ledger runs: the past at
/// once, and the last months while someone looks.
struct DemoStream: Service {
    let routes: LedgerRoutes
    let deliveries: DemoDeliveries
    let logger: Logger

    /// How much of the past is delivered while the clock runs: six minutes of it.
    private static let liveMilliseconds: Int64 = 180 * 86_400_000

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await deliver() }
        } catch is CancellationError {
            logger.debug("stopped while delivering")
        }
        // The end of a service would end all others.
        try await gracefulShutdown()
    }

    private func deliver() async throws {
        let now = Instant.systemClock().milliseconds
        try await deliveries.ingest(
            into: routes.ledger,
            runningFrom: Instant(milliseconds: now - DemoStream.liveMilliseconds)
        ) { routes.count($0, source: DemoDeliveries.source, at: $1) }
    }
}
