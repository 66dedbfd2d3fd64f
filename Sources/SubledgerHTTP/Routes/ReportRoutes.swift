internal import EventLog
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension LedgerRoutes {
    /// `GET /v1/reports/{name}`: the reports over the tables.
    func addReports(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/v1/reports/:name", of: router, for: .finance, or: .analyst) { call in
            let question = try reportQuestion(of: call, call)
            if question.report.namesCustomers {
                _ = try await caller(of: call.request, for: [.finance])
                try await audit(call, question.report.name, about: "")
            }
            return try Response.json(try await ledger.report(question))
        }
    }

    /// The question to the report that the path names.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - source: Holds the parameters.
    /// - Returns: The question.
    /// - Throws: `Problem` 404 for an unknown report, 400 for a parameter that reports do not have,
    ///   or that cannot be parsed.
    func reportQuestion(of call: Call, _ source: some ParameterSource) throws -> ReportQuestion {
        try source.check(ReportQuestion.parameters)
        let report = try Report.all.one(named: try call.parameter("name"))
        return try ReportQuestion(report, source, now: clock())
    }
}

extension [Report] {
    /// The report of that name.
    ///
    /// - Throws: `Problem` 404 if none of these has it.
    func one(named name: String) throws(Problem) -> Report {
        guard let report = first(where: { $0.name == name }) else {
            throw Problem(
                .notFound,
                "unknown-report",
                "Unknown report \"\(name.prefix(64))\"; expected one of: "
                    + map(\.name).joined(separator: ", ") + "."
            )
        }
        return report
    }
}

extension ReportQuestion {
    /// What a question to a report can have, in the order of its description.
    static let parameters: [QueryParameter] = [
        .from, .to, .by, .environment, .currency, .knownAt,
    ]

    /// A question with the parameters of a request or of a form.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - source: Holds the parameters.
    ///   - now: Our clock.
    /// - Throws: `Problem` 400 for one that cannot be parsed.
    init(_ report: Report, _ source: some ParameterSource, now: Instant) throws {
        self.init(report)
        from = try source.instant(.from, now: now, in: .utc)
        to = try source.instant(.to, now: now, in: .utc)
        dimensions = try source.query(.by).map { text in
            try Report.Dimension.breakdown(text) { word in
                Problem(
                    query: "by is \"\(word.prefix(64))\"; expected "
                        + "\(Report.Dimension.breakdownForms)."
                )
            }
        }
        environment = try source.environment() ?? .production
        money.currency = try source.query(.currency)
        knownAt = try source.knownAt(now: now, in: .utc)
    }
}
