package import EventLog
internal import Events
internal import Postgres
internal import Projector

extension Ledger {
    /// How the numbers of a report differ from those that were known at an earlier time, by cause.
    ///
    /// Folds the log as known at both times into temporary tables, and once more if a catalog was
    /// imported in between. The days are the same in both states: without `from`, the first day is
    /// that of the first purchase of either state; without `to`, the last day is the one that the
    /// report had in the earlier state. The limit of the question bounds the rows that differ.
    ///
    /// - Parameters:
    ///   - question: The question; `knownAt` is the later state, nil for all that is known.
    ///   - since: The earlier state.
    ///   - customers: How many subscriptions are listed with their customers, for each cause.
    /// - Returns: The differences.
    /// - Throws: `QuestionError` if the report does not accept the question, or the earlier state is
    ///   after the later one; `EventLogError`, `ProjectorError`, `PostgresError`.
    package func reportChanges(
        _ question: ReportQuestion,
        since: KnownAt,
        listing customers: Int = ReportQuestion.changedCustomersMax
    ) async throws -> ReportChangesDocument {
        let documents = try await reportChanges(
            [question],
            since: since,
            until: question.knownAt,
            listing: customers
        )
        return documents[0]
    }

    /// The same for several reports with the same environment and the same last day.
    func reportChanges(
        _ questions: [ReportQuestion],
        since: KnownAt,
        until: KnownAt?,
        listing customers: Int
    ) async throws -> [ReportChangesDocument] {
        for question in questions { try question.check() }
        for (name, bound) in [("knownAt", until), ("changedSince", since)] {
            guard case .offsets(let offsets) = bound else { continue }
            try await PositionVector(offsets).check(name, in: log)
        }
        return try await withAnalytics(
            "report \(questions[0].report.name)",
            of: questions.map(\.tablesSQL).joined(separator: "\n") + ReportChangesRun.tablesSQL
        ) { reading in
            let states = (try await reading.knowledge(since), try await reading.knowledge(until))
            try QuestionError.refuse(
                unless: states.0.heads.allSatisfy { $1.commit <= states.1.heads[$0]?.commit ?? 0 },
                "the earlier state, \(log.text(since)), is after the later one, "
                    + (until.map { log.text($0) } ?? "now")
            )
            var run = ReportChangesRun(
                ledger: self,
                reading: reading,
                before: states.0,
                after: states.1,
                customers: customers
            )
            return try await run.documents(questions, since: since, until: until)
        }
    }
}

extension ReportQuestion {
    /// The default number of subscriptions that are listed for each cause.
    package static let changedCustomersMax = 20
}
