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

    /// The same, and whether a subscription is one of several of its customer's.
    static func write(_ erasures: [ErasureMark], about id: String, others: Int?) {
        write(erasures)
        guard others != 0 else { return }
        Terminal.write(
            "this answer is about \(id) alone; other subscriptions of the same customer: "
                + (others.map(String.init)
                    ?? "not counted (too many, or in lanes that cannot be reached)")
                + ". `subledger customers show \(id)` lists them with the reasons; `access` and "
                + "`explain` answer for all of them"
        )
    }
}

extension OneTimePurchaseDocument {
    /// The note about one-time purchases in an answer about a subscription.
    ///
    /// - Parameter what: What was asked for, which such a purchase does not have.
    /// - Returns: A sentence.
    func sentence(without what: String) -> String {
        let revoked = revocationDate.map { ", revoked \($0.clock)" } ?? ""
        return "\(productId) (\(kindWords)), bought \(purchaseDate.clock)\(revoked), is a one-time "
            + "purchase, which has no \(what); `subledger access \(originalTransactionId)` answers "
            + "whether it gives access"
    }
}
