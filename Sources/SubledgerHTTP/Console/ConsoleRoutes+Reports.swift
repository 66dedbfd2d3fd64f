internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension ConsoleRoutes {
    /// The list of the reports, the page of each, and its files.
    func addReports(to router: some RouterMethods<some RequestContext>) {
        let path = ConsoleAddress.reports + "/:name"
        page(ConsoleAddress.reports, of: router, in: .reports) { _ in .html(reportList) }
        page(path, of: router, in: .reports) { call in .html(try await report(call)) }
        for file in ReportAddress.File.allCases {
            page("\(path)/\(file)", of: router, in: .reports) { call in
                try await download(file, call)
            }
        }
    }

    private var reportList: HTML {
        let items = ReportListDocument.all.reports.map { entry -> HTML in
            let report = Report.named(entry.name)
            let name: HTML =
                report.map { "<a href=\"\(ReportAddress($0).text())\">\(entry.name)</a>" }
                ?? "\(entry.name)"
            let more: HTML =
                report.map {
                    $0.namesCustomers
                        ? "<br/>Each row is one customer; this needs the role finance." : ""
                }
                    ?? """
                    <br/>It reads the log itself: <code>subledger report \(entry.name)</code> prints it.
                    """
            return """
                <dt>\(name) <small>\(entry.words)</small></dt>
                <dd>\(entry.definition)\(more)</dd>
                """
        }
        return reportPage(
            "Reports",
            "<h1>Reports</h1><dl class=\"reports\">\(HTML.joined(items))</dl>"
        )
    }

    private func report(_ call: Call) async throws -> HTML {
        let (question, fields) = try await asked(call)
        let (ledger, report) = (routes.ledger, question.report)
        let answer = try await ledger.reportAnswer(question)
        let positions = answer.document.positions
        let content = ReportContent(
            report: report,
            document: answer.document,
            address: ReportAddress(report, fields),
            pinned: ReportAddress(report, of: answer, in: ledger.log),
            lag: question.knownAt == nil ? try await ledger.lag(behind: positions) : 0
        )
        return reportPage(report.name, content.html)
    }

    private func download(_ file: ReportAddress.File, _ call: Call) async throws -> Response {
        let document = try await routes.ledger.report(try await asked(call).question)
        var response =
            switch file {
            case .csv: Response.text(document.csv, "text/csv; charset=utf-8; header=present")
            case .json: try Response.json(document)
            }
        response.headers[.contentDisposition] = "attachment; filename=\"\(document.name).\(file)\""
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    // As for programs, only a report whose rows are customers needs more, and has an audit line.
    private func asked(
        _ call: Call
    ) async throws -> (question: ReportQuestion, fields: FormFields) {
        let fields = try FormFields(call.request.uri.query ?? "")
        let question = try routes.reportQuestion(of: call, fields)
        if question.report.namesCustomers {
            _ = try await caller(of: call.request, for: [.finance])
            try await routes.audit(call, question.report.name, about: "")
        }
        return (question, fields)
    }

    private func reportPage(_ title: String, _ content: HTML) -> HTML {
        ConsolePage.page(title, search: nil, note: note, in: .reports, content)
    }
}

/// The content of a report's page: the parts of the page that the command writes, and the form that
/// asks for another.
private struct ReportContent {
    let report: Report
    let document: ReportDocument
    let address: ReportAddress
    let pinned: ReportAddress?
    let lag: Int64

    var html: HTML {
        let page = ReportPage(document)
        return """
            \(page.heading)
            \(form)
            \(knowledge)
            \(page.facts)
            \(page.numbers)
            \(page.notes)
            \(cite)
            """
    }

    private var form: HTML {
        let dimensions = report.dimensions.map(\.rawValue).joined(separator: ", ")
        let usual = Report.Dimension.text(document.by)
        let currency: [HTML] =
            report.hasMoney ? [field(.currency, "Convert money into", "as Apple signed it")] : []
        return """
            <form class="search parameters" method="get" action="\(ReportAddress(report).text())">
            \(field(.from, "First day, UTC", document.from))
            \(field(.to, "Last day, UTC", document.to))
            \(field(.by, "By \(dimensions), or none", usual))
            \(ConsolePage.environments(document.environment.word, empty: nil))
            \(currency)
            \(field(.knownAt, "Known at", "now"))
            <button class="go">Show</button>
            </form>
            """
    }

    private func field(_ name: QueryParameter, _ words: String, _ usual: String) -> HTML {
        """
        <label>\(words) <input name="\(name.rawValue)" value="\(address[name] ?? "")" \
        placeholder="\(usual)" autocomplete="off"/></label>
        """
    }

    private var knowledge: HTML {
        let files = ReportAddress.File.allCases.map { file -> HTML in
            "<a href=\"\(address.text(file))\">\(file.rawValue.uppercased())</a>"
        }
        let words =
            address[.knownAt].map {
                "As known at \($0): what the ledger learned later does not count."
            } ?? """
                From the tables as they are now. To see the report as it was printed earlier, enter the \
                time in Known at, such as 2025-03-03T17:00Z; a day alone means its first moment.
                """
        let late: [HTML] = lag > 0 ? ["<p>\(lagWords(lag, of: "report"))</p>"] : []
        return """
            <p class="quiet">\(words)</p>\(late)
            <nav class="pages" aria-label="Files">\(HTML.joined(files))</nav>
            """
    }

    private var cite: [HTML] {
        guard let link = pinned?.text() else { return [] }
        return [
            """
            <p class="cite quiet">To cite this page, also after the ledger has learned more: \
            <a href="\(link)">\(link)</a></p>
            """
        ]
    }
}
