import CommandSupport
import Subledger

/// An answer about one subscription, which reports what it leaves out.
protocol SubscriptionAnswer: Encodable {
    /// The subscription.
    var originalTransactionId: String { get }
    /// What was erased of it.
    var erasures: [ErasureMark] { get }
    /// Other subscriptions of the same customer; nil if they cannot be counted.
    var otherSubscriptions: Int? { get }
}

extension PeriodsDocument: SubscriptionAnswer {}
extension ChangesDocument: SubscriptionAnswer {}
extension RefundsDocument: SubscriptionAnswer {}
extension StateDocument: SubscriptionAnswer {}
extension HistoryDocument: SubscriptionAnswer {}
extension ReplayDocument: SubscriptionAnswer {}

extension DatabaseOptions {
    /// Asks the ledger about one subscription, and reports on stderr what the answer leaves out.
    func ask<Answer: SubscriptionAnswer>(
        _ question: (Ledger) async throws -> Answer
    ) async throws -> Answer {
        let ledger = try await openLedger()
        let answer = try await question(ledger)
        await ledger.close()
        AnswerNotes.write(
            answer.erasures,
            about: answer.originalTransactionId,
            others: answer.otherSubscriptions
        )
        return answer
    }
}

extension OutputOptions {
    /// Prints an answer as JSON, or as lines of text.
    func print(_ answer: some Encodable, _ lines: @autoclosure () -> [String]) throws {
        if json {
            try Terminal.print(json: answer)
        } else {
            lines().forEach(Terminal.print)
        }
    }
}
