import CommandSupport
import Events
import Subledger

extension IngestPlan {
    /// The plan as text.
    var text: [Block] {
        let summary =
            "\(counted(payloads, "payload")), \(byteWords(byteCount)): "
            + "\(counted(facts, "fact")) of \(counted(streams, "stream"))"
            + (leftOut > 0 ? "; \(leftOut) more would be left out" : "")
            + (rejected > 0 ? "; \(counted(rejected, "payload")) would be refused" : "")
            + (skipped > 0 ? "; \(counted(skipped, "other file")) skipped" : "")
        let span = from.flatMap { from in
            to.map { "from \(from.clock) to \($0.clock) UTC" }
        }
        let reasons =
            IngestSummary.lines(leftOut: leftOutByReason)
            + IngestSummary.lines(refused: rejectedByReason)
        let end = [
            "an ingest will take roughly \(durationWords(estimatedSeconds)): reading and verifying "
                + "took \(durationWords(readingSeconds)); writing depends on the database",
            wasStopped
                ? "interrupted, so these figures are incomplete; nothing was written"
                : "nothing was written",
        ]
        return [.line(summary)] + [span].compactMap { $0.map(Block.line) }
            + table(forms, "form", "payloads") + table(bundleIds, "app", "facts")
            + table(environments, "environment", "facts") + (reasons + end).map(Block.line)
    }

    private func table(_ counts: [Count], _ title: String, _ counted: String) -> [Block] {
        let rows = counts.map { [$0.word.isEmpty ? "(not named)" : $0.word, "\($0.count)"] }
        return rows.isEmpty ? [] : [.table([title, counted], rows)]
    }
}
