/// A report as a page: one self-contained HTML file, to read, to print, to file; or its parts, for a
/// page of the console.
package struct ReportPage {
    private let report: ReportDocument

    /// The page of a report.
    package init(_ report: ReportDocument) {
        self.report = report
    }

    /// The file's text.
    package var text: String { page.text + "\n" }

    private var page: HTML {
        PageStyle.file(
            "\(report.name), \(report.from) to \(report.to)",
            """
            <main>
            \(heading)
            \(facts)
            \(numbers)
            \(notes)
            </main>
            """
        )
    }

    /// Its title, and what it counts.
    package var heading: HTML {
        """
        <h1>\(report.name)</h1>
        <p class="definition">\(report.definition)</p>
        """
    }

    /// The picture and the table.
    package var numbers: [HTML] { report.rows.isEmpty ? [nothing] : pictures + [table] }

    private var nothing: HTML { "<p class=\"quiet\">nothing to report</p>" }

    /// Notes on the numbers, and the command that prints them again.
    package var notes: [HTML] {
        ([report.partialWords].compactMap { $0 } + report.notes)
            .map { note -> HTML in "<p class=\"quiet\">\(note)</p>" }
            + [report.command].compactMap { $0 }.map { command -> HTML in
                "<p class=\"next\">again <code>\(command)</code></p>"
            }
    }

    /// What the numbers are computed from.
    package var facts: HTML {
        var facts = [
            ("days", "\(report.from) to \(report.to), UTC"),
            ("environment", report.environment.word),
            ("as of", "\(report.asOf.clock) UTC, on Apple's clock"),
            ("known at", report.positions.words),
            ("definition", "version \(report.version)"),
            ("folds", report.foldWords),
            ("catalog", report.catalogVersion == 0 ? "none" : "version \(report.catalogVersion)"),
        ]
        facts += report.moneyWords.map { ("money", $0) }
        if let installs = report.installWords { facts.append(("installs", installs)) }
        if report.erasures > 0 { facts.append(("erasures", "\(report.erasures)")) }
        let items = facts.map { name, value -> HTML in "<dt>\(name)</dt><dd>\(value)</dd>" }
        return "<dl class=\"subject\">\(HTML.joined(items))</dl>"
    }

    private var pictures: [HTML] {
        ReportChart(report).map { ReportPicture(chart: $0).html } ?? []
    }

    private var table: HTML {
        let head = report.shownColumns.map { column -> HTML in
            "<th scope=\"col\" class=\"\(kind(column))\">\(column.title)</th>"
        }
        let rows = report.rows.map { row -> HTML in
            let cells = report.shownColumns.map { column -> HTML in
                "<td class=\"\(kind(column))\">\(report.text(of: column, in: row))</td>"
            }
            return "<tr>\(cells)</tr>"
        }
        return """
            <div class="scroll" tabindex="0"><table class="report"><thead><tr>\(head)</tr></thead>
            <tbody>\(HTML.joined(rows))</tbody></table></div>
            """
    }

    private func kind(_ column: Report.Column) -> String {
        switch column.kind {
        case .text, .instant, .flag: "text"
        case .count, .money, .percent: "number"
        }
    }
}
