import ArgumentParser
import Subledger

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports over the whole ledger.",
        usage: "subledger report NAME [OPTIONS]",
        discussion: """
            Over the tables: \(TableReportCommand.names). Over the log: the subcommands below. \
            `subledger report list` explains each, `subledger report ask --help` the options of \
            those over the tables.
            """,
        subcommands: [
            TableReportCommand.self, ListReportsCommand.self, IngestQualityReport.self,
            DriftReportCommand.self, WrongAnswersReport.self, AnomaliesReport.self,
            GapsReport.self,
        ],
        defaultSubcommand: TableReportCommand.self
    )
}
