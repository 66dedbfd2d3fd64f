import ArgumentParser

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports over the whole ledger.",
        subcommands: [
            IngestQualityReport.self, DriftReportCommand.self, WrongAnswersReport.self,
            AnomaliesReport.self,
        ]
    )
}
