import Foundation
import Logging
import ServiceLifecycle
import SubledgerHTTP
import UnixSignals

/// Obeys whoever runs the service: tells systemd that it still works, and reads certificates and
/// tokens again after SIGHUP.
struct Supervised: Service {
    /// Nil if no systemd wants to be told.
    let manager: ServiceManager?
    let routes: LedgerRoutes
    let tls: TLSFiles?
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await keepAlive() }
                group.addTask { try await reload() }
                try await group.waitForAll()
            }
        }
        // The end of a service would end all others, and in a terminal there is nothing to wait for.
        try await gracefulShutdown()
    }

    // Twice in each interval, as systemd advises.
    private func keepAlive() async throws {
        guard let manager, let interval = manager.watchdogInterval else { return }
        while !Task.isCancelled {
            manager.notify(["WATCHDOG=1"])
            do { try await Task.sleep(for: interval / 2) } catch is CancellationError { return }
        }
    }

    // Started in a terminal, SIGHUP means that the terminal was closed, and ends the program.
    private func reload() async throws {
        guard isatty(0) == 0, isatty(2) == 0 else { return }
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            manager?.notify([
                "RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)",
            ])
            tls?.reload()
            await routes.reloadTokens()
            logger.notice("read the certificate and the tokens again")
            manager?.notify(["READY=1"])
        }
    }
}
