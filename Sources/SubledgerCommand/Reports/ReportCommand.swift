import ArgumentParser
import Subledger

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports over the whole ledger.",
        usage: "subledger report NAME [OPTIONS]",
        discussion: """
            Reports on the tables: \(TableReportCommand.names). Reports on the log: the \
            subcommands below. `subledger report list` explains all reports; `subledger report ask \
            --help` explains the options of the reports on the tables.
            """,
        subcommands: [
            TableReportCommand.self, ListReportsCommand.self, IngestQualityReport.self,
            DriftReportCommand.self, WrongAnswersReport.self, AnomaliesReport.self,
            GapsReport.self, CloseReport.self,
        ],
        defaultSubcommand: TableReportCommand.self
    )
}
