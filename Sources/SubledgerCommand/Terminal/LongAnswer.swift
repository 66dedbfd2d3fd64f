/// A command whose answer may be longer than the terminal, and should be read in a pager.
protocol LongAnswer {}

extension AccessCommand: LongAnswer {}
extension ExplainCommand: LongAnswer {}
extension QuestionCommand: LongAnswer {}
extension DiffCommand: LongAnswer {}
extension EventCommand: LongAnswer {}
extension DueCommand: LongAnswer {}
extension StreamsCommand: LongAnswer {}
extension CatalogShowCommand: LongAnswer {}
extension CatalogListCommand: LongAnswer {}
extension CatalogDiffCommand: LongAnswer {}
extension ListCustomersCommand: LongAnswer {}
extension ShowCustomerCommand: LongAnswer {}
extension CustomerClaimsCommand: LongAnswer {}
extension ListReportsCommand: LongAnswer {}
extension TableReportCommand: LongAnswer {}
extension WrongAnswersReport: LongAnswer {}
extension DriftReportCommand: LongAnswer {}
extension IngestQualityReport: LongAnswer {}
extension AnomaliesReport: LongAnswer {}
