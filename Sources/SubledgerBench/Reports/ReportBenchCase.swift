import Subledger

/// A question to a report, and hand-written SQL that has the same rows.
struct ReportBenchCase {
    let name: String
    var question: ReportQuestion
    let sql: String

    init(name: String, question: ReportQuestion, sql: String) {
        self.name = name
        self.question = question
        self.sql = sql
    }
}
