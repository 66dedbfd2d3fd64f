import AppStore
import EventLog
import Logging
import Postgres
import Subledger

/// Opens the ledger of a service, and waits for a database that is away at its start.
struct DatabaseWait {
    let logger: Logger

    /// Time between two attempts.
    private static let interval = Duration.seconds(1)
    /// Time between two lines in the log.
    private static let lineInterval = Duration.seconds(60)

    /// Opens the ledger, as soon as the database answers.
    ///
    /// - Throws: `EventLogError` if waiting does not help.
    func open(
        _ settings: ConnectionSettings,
        policy: VerificationPolicy,
        options: EventLog.Options
    ) async throws -> Ledger {
        var lineAt: ContinuousClock.Instant?
        while true {
            do throws(EventLogError) {
                let ledger = try await Ledger.open(settings, policy: policy, options: options)
                if lineAt != nil { logger.notice("the database answers") }
                return ledger
            } catch {
                guard error.isRetryable else { throw error }
                if lineAt.map({ ContinuousClock.now - $0 >= Self.lineInterval }) ?? true {
                    logger.warning("waiting for the database", metadata: ["error": "\(error)"])
                    lineAt = .now
                }
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}
