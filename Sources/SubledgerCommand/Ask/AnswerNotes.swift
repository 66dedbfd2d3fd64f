import CommandSupport
import Subledger

/// What is printed on stderr next to an answer.
enum AnswerNotes {
    /// How to fill an empty ledger.
    static let fillingWords =
        "fill it with `subledger ingest PATH…` (files or folders of notifications, transactions or "
        + "receipts), or try `subledger demo`"

    /// Reports an empty ledger, so an empty list is not taken for an answer.
    static func writeIfEmpty(_ ledger: Ledger) async throws {
        guard try await ledger.isEmpty else { return }
        Terminal.write("this ledger is empty; \(fillingWords)")
    }

    /// Reports erasures, so the answer is not taken for complete.
    static func write(_ erasures: [ErasureMark]) {
        for line in erasures.compactMap(\.line) { Terminal.write(line) }
    }
}
