internal import EventLog
internal import Events
internal import Subledger

/// A report that reads the whole log, of which the operations page shows the sums only when asked:
/// its lines are about customers.
enum WholeLogReading: String, CaseIterable {
    case drift
    case wrongAnswers = "wrong-answers"
    case gaps
    case ingestQuality = "ingest-quality"

    /// What it answers.
    var question: String {
        switch self {
        case .drift: "Does the fold agree with what Apple signed?"
        case .wrongAnswers: "How long was access answered wrongly, because payloads came late?"
        case .gaps: "What should the ledger know but does not?"
        case .ingestQuality: "How much of what was ingested was refused, known already or restored?"
        }
    }

    /// Reads its sums; `subledger report` lists the cases.
    func sums(of ledger: Ledger, now: Instant) async throws -> [Block] {
        var (blocks, unreadable): ([Block], Int)
        switch self {
        case .drift:
            let document = try await ledger.drift(limit: 1)
            (blocks, unreadable) = (document.text, document.unreadableStreams)
        case .wrongAnswers:
            let document = try await ledger.wrongAnswers(limit: 0)
            (blocks, unreadable) = (
                document.text(countsNotAsked: false), document.unreadableStreams
            )
        case .gaps:
            let document = try await ledger.gaps(at: now, limit: 1)
            (blocks, unreadable) = (document.text, document.unreadableStreams)
        case .ingestQuality:
            (blocks, unreadable) = (try await ledger.ingestQuality().text, 0)
        }
        if unreadable > 0 {
            blocks.append(
                .line(
                    "\(counted(unreadable, "subscription")) could not be read and were left out; run "
                        + "`subledger verify`"
                )
            )
        }
        // Tables other than this one have a line for each subscription.
        guard self != .ingestQuality else { return blocks }
        return blocks.filter { if case .line = $0 { true } else { false } }
    }
}
