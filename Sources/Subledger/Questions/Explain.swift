/// Why a customer did or did not have access, and what the ledger answered then.
package enum ExplainQuestion: Question {
    package static let name = "explain"
    package static let abstract =
        "Why a customer did or did not have access, and what the ledger answered then."
    package static let discussion = """
        Starts with a summary that can be pasted into a ticket. ENTITLED is the answer as known \
        now, SERVED the answer that the ledger gave then. If they differ, the next line shows \
        for how long, and what became known too late. Below follow a timeline and the events \
        that decide the answer. The history is evaluated once for each time at which something \
        became known, so a long history takes longer.
        """
    package static let meaningOfAt = "The instant to answer for. Default: now."
    package static let parameters: [QuestionParameter: String] = [
        .product: "Only access through this product."
    ]

    package static func answer(
        _ asked: QuestionInput,
        from ledger: Ledger
    ) async throws -> ExplanationDocument {
        try await ledger.explain(
            asked.subject,
            at: asked.at ?? asked.now,
            product: asked.values[.product]?.first,
            knownAt: asked.knownAt,
            sandbox: asked.sandbox
        )
    }

    package static func notes(_ answer: ExplanationDocument) -> [String] { [] }

    // On a terminal, the command draws a picture below it.
    package static func text(_ answer: ExplanationDocument, _ asked: QuestionInput) -> [Block] {
        [.line(answer.summary)]
    }
}
