import ArgumentParser
import CommandSupport
import Subledger

struct ListReportsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "What each report counts, and what it can be broken down by."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let list = ReportListDocument.all
        guard !output.json else { return try Terminal.print(json: list) }
        for report in list.reports {
            let by =
                report.by.isEmpty
                ? "" : "; by \(report.by.map(\.rawValue).joined(separator: ", "))"
            Terminal.print(
                "\(report.name) (definition \(report.version)\(by))\n  \(report.definition)"
            )
        }
    }
}
