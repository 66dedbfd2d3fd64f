import ArgumentParser
import EventLog
import Events

/// How much of the log a question about the whole ledger may use.
struct LedgerKnowledgeOptions: ParsableArguments {
    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    /// The bound of each lane, ascending by lane.
    func heads(of log: EventLog) async throws -> [(lane: Int, head: EventLog.Head)] {
        try await Clock.check(knownAt, in: log)
        return try await log.heads(knownAt: knownAt).sorted { $0.key < $1.key }
            .map { ($0.key, $0.value) }
    }
}
