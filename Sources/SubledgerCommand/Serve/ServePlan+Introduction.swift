import AppStore
import EventLog
import Events
import Subledger
import SubledgerHTTP

extension ServePlan {
    /// What the service will do, a line each, so that a wrong setting is seen at the start.
    ///
    /// - Parameters:
    ///   - ledger: The ledger that was opened.
    ///   - trusted: What it accepts.
    /// - Returns: The lines.
    /// - Throws: `EventLogError` if the ledger cannot be read.
    func introduction(
        _ ledger: Ledger,
        trusting trusted: VerificationPolicy
    ) async throws -> [String] {
        let events = try await ledger.log.heads().values.reduce(0) { $0 + $1.offset }
        let lanes = ledger.log.identity.lanes.value
        let apps =
            trusted.bundleIds.isEmpty
            ? "any app" : "the apps " + trusted.bundleIds.sorted().joined(separator: ", ")
        let environments = trusted.environments.map(\.word).sorted().joined(separator: ", ")
        let roots =
            trust.rootCertificate.isEmpty
            ? "Apple's roots"
            : "Apple's roots, and also " + trust.rootCertificate.joined(separator: ", ")
        return [
            "the ledger has \(counted(events, "event")) in \(counted(lanes, "lane"))",
            "accepts payloads of \(apps) in \(environments), signed under \(roots)",
            server.follows
                ? "keeps the tables up to date" : "does not keep the tables up to date (--follow)",
            polling.map { "asks Apple every \(Duration.words($0.interval / 1000))" }
                ?? "does not ask Apple (--poll)",
            consumption == nil
                ? "does not answer Apple's consumption requests (--answer-consumption)"
                : "answers Apple's consumption requests by the policy",
            doors,
        ]
    }

    // How others reach it, and who is written down.
    private var doors: String {
        let proxies =
            switch trustedProxies.count {
            case 0: ""
            case 1: " behind a trusted proxy"
            case let count: " behind \(count) trusted proxies"
            }
        let audit = auditDays == 0 ? "in the log only" : "for \(counted(auditDays, "day"))"
        return (tlsFiles == nil ? "serves HTTP" : "serves HTTPS") + proxies
            + (hasConsole ? ", with the console" : ", without the console (--console)")
            + "; keeps who asked about whom \(audit)"
    }
}
