internal import EventLog
internal import Events
internal import Projections

extension Ledger {
    /// Answers a report: from the live tables, or as known at a position of the log.
    ///
    /// The live tables answer at once. With `knownAt`, the log is folded up to there into temporary
    /// tables, with the catalog of that time, and the same SQL runs over them: the answer is the
    /// same at any later time, until a fold or a definition gets a new version, or something is
    /// erased. That reads the log once for each table of the report.
    ///
    /// - Parameter question: The question.
    /// - Returns: The report.
    /// - Throws: `QuestionError` if the report does not accept the question, or the live tables
    ///   cannot answer; `EventLogError`, `ProjectorError`, `PostgresError`.
    package func report(_ question: ReportQuestion) async throws -> ReportDocument {
        try await reportAnswer(question).document
    }

    /// Answers a report, and names the bound that gives it again.
    package func reportAnswer(_ question: ReportQuestion) async throws -> ReportAnswer {
        try question.check()
        if case .offsets(let offsets) = question.knownAt {
            try await PositionVector(offsets).check("knownAt", in: log)
        }
        return try await readingAnalytics(
            "report \(question.report.name)",
            of: question.tablesSQL,
            knownAt: question.knownAt
        ) { session, ground in
            try await ReportRun(ledger: self, question: question, session: session, ground: ground)
                .answer()
        }
    }
}

extension ReportQuestion {
    /// What the numbers are broken down by.
    var by: [Report.Dimension] { dimensions ?? report.usual }

    /// SQL that names the tables of an answer.
    var tablesSQL: String {
        ReportConversion(money: money, recordedUntil: nil).filling(report.sql)
            + ReportRun.firstPurchase
    }

    /// The projections of these tables.
    var projections: Set<String> {
        AnalyticsRelation.projections(
            of: AnalyticsRelation.needed(by: tablesSQL),
            and: tablesSQL
        )
    }

    /// Refuses options that the report does not have.
    func check() throws(QuestionError) {
        let words = report.dimensions.map(\.rawValue).joined(separator: ", ")
        let hasDays = report.keys.contains { $0.name == "day" }
        for dimension in by {
            try QuestionError.refuse(
                unless: report.dimensions.contains(dimension),
                "report \(report.name) cannot be broken down by \(dimension.rawValue), only by "
                    + words + (hasDays ? "; it has rows by day already" : "")
            )
        }
        try QuestionError.refuse(
            unless: Set(by).count == by.count,
            "name each dimension of a breakdown once"
        )
        try QuestionError.refuse(
            unless: by.count(where: \.isTime) <= 1,
            "break down by month, by week or by fiscal-month, not by several of them"
        )
        if let from, let to {
            try QuestionError.refuse(
                unless: from <= to,
                "the last day \(to.day) is before the first day \(from.day)"
            )
        }
        try QuestionError.refuse(
            unless: (1...ReportQuestion.limitMax).contains(limit),
            "a report cannot be limited to \(limit) rows; expected 1 to "
                + "\(ReportQuestion.limitMax)"
        )
        try money.check(report)
        try installs?.check(self)
    }
}

extension QuestionError {
    /// Refuses a question that its report does not accept.
    static func refuse(
        unless condition: Bool,
        _ message: @autoclosure () -> String
    ) throws(QuestionError) {
        guard condition else { throw QuestionError(.unknownReport, message()) }
    }
}
