import ArgumentParser

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports over the whole ledger.",
        usage: "subledger report NAME [OPTIONS]",
        discussion: "`report list` explains each; `report ask --help` has their options.",
        subcommands: [
            TableReportCommand.self, ListReportsCommand.self, IngestQualityReport.self,
            DriftReportCommand.self, WrongAnswersReport.self, AnomaliesReport.self,
            GapsReport.self,
        ],
        defaultSubcommand: TableReportCommand.self
    )
}
