import CommandSupport
import Subledger

extension DoctorReport {
    /// Columns of the table, on a terminal or not: messages are sentences, which are not truncated.
    private static let width = 80

    /// A line for each check, followed by what to do.
    var table: String {
        var table = TextTable(["check", "result", "found"])
        for check in checks {
            table.add([check.check, check.result.words, check.message])
            if let action = check.action { table.add(["", "", "→ \(action)"]) }
        }
        return table.text(width: DoctorReport.width)
    }
}
