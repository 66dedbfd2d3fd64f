package import EventLog
package import Events
internal import Projections

/// The answer about a customer with one event, and the answer if the event, and everything that
/// repeated it, had never been recorded.
package struct WithoutEventAnswer: Sendable {
    /// The event.
    package let position: Position
    /// The explanation with the event.
    package let with: ExplanationAnswer
    /// The explanation without it.
    package let without: ExplanationAnswer

    /// Whether it was known at the bound of knowledge.
    package var isKnown: Bool {
        with.customer.histories.contains { history in
            history.events.contains { $0.position == position }
        }
    }

    /// Whether the answer is the opposite without it.
    package var isDecisive: Bool {
        with.explanation.entitled.hasAccess != without.explanation.entitled.hasAccess
    }

    /// What the event changes, as a sentence.
    package var summary: String {
        let mark = position.mark
        guard isKnown else {
            return
                "Event \(mark) is not among what this answer was calculated from, so it does not "
                + "affect it."
        }
        guard !isDecisive else {
            let word = with.explanation.entitled.hasAccess ? "no access" : "access"
            return "Without event \(mark), the answer would be the opposite: \(word)."
        }
        let reasons = [with, without].map {
            ExplanationText($0, style: .unicode, width: 0).entitled.reason
        }
        return "Without event \(mark), the answer would be the same"
            + (reasons[0] == reasons[1] ? "." : ", but for another reason.")
    }
}

extension Ledger {
    /// Why a customer did or did not have access at an instant, with and without an event.
    ///
    /// Nothing is changed in the ledger. Which subscriptions are the customer's is not decided
    /// again without the event.
    ///
    /// - Parameters:
    ///   - position: The event.
    ///   - subject: The customer.
    ///   - instant: The instant asked about.
    ///   - knownAt: How much of the log is used.
    ///   - sandbox: The customers for whom sandbox purchases count if production gives no access.
    /// - Returns: Both answers.
    /// - Throws: `QuestionError`, `EventLogError`, `CatalogError`.
    package func explanation(
        without position: Position,
        of subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt,
        sandbox: SandboxPolicy = .never
    ) async throws -> WithoutEventAnswer {
        try await log.inOneSnapshot {
            let with = try await explanation(
                of: subject,
                at: instant,
                product: nil,
                knownAt: knownAt,
                sandbox: sandbox
            )
            var remaining = with.customer
            remaining.histories = remaining.histories.map { $0.without(position) }
            let without = try await explanation(
                of: remaining,
                at: instant,
                knownAt: try await log.wholeCommits(knownAt),
                askedAs: knownAt,
                connections: with.connections
            )
            return WithoutEventAnswer(position: position, with: with, without: without)
        }
    }
}
