internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension LedgerRoutes {
    /// `GET /v1/reports/{name}`: the reports over the live tables, which name no customer.
    func addReports(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/v1/reports/:name", of: router, for: .finance, or: .analyst) { call in
            try call.check([.from, .to, .environment])
            let name = try call.parameter("name")
            guard let report = Report.named(name) else {
                throw Problem(
                    .notFound,
                    "unknown-report",
                    "Unknown report \"\(name.prefix(64))\"; expected one of: "
                        + Report.all.map(\.name).joined(separator: ", ") + "."
                )
            }
            let now = clock()
            var question = ReportQuestion(report)
            question.from = try call.instant(.from, now: now, in: .utc)
            question.to = try call.instant(.to, now: now, in: .utc)
            question.environment = try call.environment() ?? .production
            return try Response.json(try await ledger.report(question))
        }
    }
}
