import CommandSupport
import Events
import Subledger

extension IngestPlan {
    /// Prints the plan as text, all of it on stdout, because it is the answer.
    func printText() {
        Terminal.print(
            "\(counted(payloads, "payload")), \(byteWords(byteCount)): "
                + "\(counted(facts, "fact")) of \(counted(streams, "stream"))"
                + (leftOut > 0 ? "; \(leftOut) more would be left out" : "")
                + (rejected > 0 ? "; \(counted(rejected, "payload")) would be refused" : "")
                + (skipped > 0 ? "; \(counted(skipped, "other file")) skipped" : "")
        )
        if let from = from.value, let to = to.value {
            Terminal.print("from \(from.clock) to \(to.clock) UTC")
        }

        printTable(forms, "form", "payloads")
        printTable(bundleIds, "app", "facts")
        printTable(environments, "environment", "facts")
        for line in IngestSummary.lines(leftOut: leftOutByReason)
            + IngestSummary.lines(refused: rejectedByReason)
        {
            Terminal.print(line)
        }

        Terminal.print(
            "an ingest will take roughly \(durationWords(estimatedSeconds)): reading and verifying "
                + "took \(durationWords(readingSeconds)); writing depends on the database"
        )
        Terminal.print(
            wasStopped
                ? "interrupted, so these figures are incomplete; nothing was written"
                : "nothing was written"
        )
    }

    private func printTable(_ counts: [Count], _ title: String, _ counted: String) {
        guard !counts.isEmpty else { return }
        var table = TextTable([title, counted])
        for count in counts {
            table.add([count.word.isEmpty ? "(not named)" : count.word, "\(count.count)"])
        }
        Terminal.print(table.text)
    }
}
