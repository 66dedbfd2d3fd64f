internal import EventLog
internal import Events
internal import Subledger

/// The address of a report's page or file, which holds everything that it depends on.
struct ReportAddress {
    private let report: Report
    private let values: [QueryParameter: String]

    /// A file with the numbers that the page has when the file is asked for.
    enum File: String, CaseIterable {
        case csv, json
    }

    /// The address without parameters.
    init(_ report: Report) { self.init(report, [:]) }

    /// The address of a request.
    init(_ report: Report, _ fields: FormFields) {
        self.init(
            report,
            ReportQuestion.parameters.reduce(into: [:]) { $0[$1] = fields.query($1) }
        )
    }

    /// The address that gives the same page for ever; nil if none does.
    init?(_ report: Report, of answer: ReportAnswer, in log: EventLog) {
        guard let knownAt = answer.knownAt else { return nil }
        let document = answer.document
        var values: [QueryParameter: String] = [
            .from: document.from, .to: document.to, .by: Report.Dimension.text(document.by),
            .environment: document.environment.word, .knownAt: log.text(knownAt),
        ]
        values[.currency] = document.money?.currency
        self.init(report, values)
    }

    private init(_ report: Report, _ values: [QueryParameter: String]) {
        self.report = report
        self.values = values
    }

    /// The value of a parameter; nil if it is absent.
    subscript(name: QueryParameter) -> String? { values[name] }

    /// The path and the query of the page, or of a file.
    func text(_ file: File? = nil) -> String {
        let path = ConsoleAddress.reports + "/\(report.name)" + (file.map { "/\($0)" } ?? "")
        let query = ConsoleAddress.query(
            ReportQuestion.parameters.map { ($0.rawValue, values[$0]) }
        )
        return query.isEmpty ? path : path + "?" + query
    }
}
