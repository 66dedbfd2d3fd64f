package import EventLog
internal import Events
package import Projections

/// Whether the fold agrees with Apple's statements in its own payloads.
package struct DriftDocument: LogReport, Hashable {
    /// The number of Apple's statements that were compared.
    package let checked: Int
    /// The number of statements that agree.
    package let agreeing: Int
    /// The statements that do not agree, up to the requested number.
    package let drift: [DriftReport.Disagreement]
    /// How many subscriptions have events that cannot be read.
    package let unreadableStreams: Int
    /// The first of these.
    package let unreadable: [UnreadableStreams.Named]
}

extension Ledger {
    /// Whether the fold agrees with Apple's statements in its own payloads.
    ///
    /// Compares each status in a version 2 notification, and each signed renewal info, with the
    /// fold of everything signed by then.
    ///
    /// - Parameters:
    ///   - limit: The most disagreements that are listed; all are counted.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    package func drift(
        limit: Int = 100,
        knownAt: KnownAt = .latest
    ) async throws -> DriftDocument {
        let found = try await foldAll(into: DriftReport(), knownAt: knownAt) { report, history in
            guard history.unreadable.isEmpty else { return }
            report.add(Drift.check(history), keeping: limit)
        }
        return DriftDocument(
            checked: found.state.checked,
            agreeing: found.state.agreeing,
            drift: found.state.disagreements,
            unreadableStreams: found.unreadable.count,
            unreadable: found.unreadable.named
        )
    }
}

extension DriftDocument {
    /// The answer as text.
    package var text: [Block] {
        let summary = "\(agreeing) of \(checked) of Apple's statements agree with the fold"
        guard !drift.isEmpty else { return [.line(summary)] }
        let rows = drift.map { line in
            [
                line.originalTransactionId, line.environment.word, line.asOf.clock,
                line.subject.rawValue, line.apple, line.ours.isEmpty ? "–" : line.ours,
            ]
        }
        let header = ["subscription", "environment", "as of", "what", "Apple", "ours"]
        return [.line(summary), .table(header, rows)]
    }
}
