import Logging
import ServiceLifecycle
import Subledger
import SubledgerAppStore

/// Answers Apple's requests for consumption information while the service runs.
struct AnsweringConsumption: Service {
    let answerer: ConsumptionAnswerer
    let client: AppStoreServerClient
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await answerer.follow { result in
                switch result {
                case .success(let round): note(round)
                case .failure(let error):
                    logger.error("answering Apple failed", metadata: ["error": "\(error)"])
                }
            }
        }
        try await client.close()
    }

    private func note(_ round: ConsumptionRound) {
        var metadata = Logger.Metadata(
            uniqueKeysWithValues: round.outcomes.map { ($0.key, "\($0.value)") }
        )
        if let note = round.notes.first { metadata["reason"] = "\(note)" }
        logger.log(
            level: round.hasFailures ? .warning : .info,
            "answered requests for consumption information",
            metadata: metadata
        )
    }
}

extension ServePlan {
    /// What answers Apple's requests; nil if nothing does.
    func answering(
        _ ledger: Ledger,
        _ credentials: ServerCredentials?,
        _ logger: Logger
    ) -> AnsweringConsumption? {
        guard let consumption, let credentials, let bundleId = trust.bundleId.first else {
            return nil
        }
        let client = AppStoreServerClient(credentials, hosts: apple.hosts, limits: Polling.limits)
        let poller = Poller(ledger, client, options: Poller.Options(trust.environments, pause: nil))
        return AnsweringConsumption(
            answerer: ConsumptionAnswerer(poller, consumption, bundleId: bundleId),
            client: client,
            logger: logger
        )
    }
}
