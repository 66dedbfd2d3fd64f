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
        let lines = list.reports.map { report in
            "\(report.name) (\(report.words))\n  \(report.definition)"
        }
        try output.print(list, lines)
    }
}
