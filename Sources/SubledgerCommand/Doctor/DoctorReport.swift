import CommandSupport
import Subledger

/// The result of one check of `doctor`.
struct DoctorCheck: Encodable {
    /// What was checked, as a machine-readable word.
    let check: String
    /// The result.
    let result: Result
    /// What was found, or why nothing was checked.
    let message: String
    /// What to do; nil if nothing has to be done.
    let action: String?

    /// The result of a check.
    enum Result: String, Encodable {
        case ok
        /// It works, but may stop working, or works worse than it could.
        case warning
        /// Something does not work.
        case wrong
        case notChecked = "not-checked"

        var words: String { self == .notChecked ? "not checked" : rawValue }
    }

    static func ok(_ check: String, _ message: String) -> DoctorCheck {
        DoctorCheck(check: check, result: .ok, message: message, action: nil)
    }

    static func warning(_ check: String, _ message: String, _ action: String) -> DoctorCheck {
        DoctorCheck(check: check, result: .warning, message: message, action: action)
    }

    static func wrong(_ check: String, _ message: String, _ action: String?) -> DoctorCheck {
        DoctorCheck(check: check, result: .wrong, message: message, action: action)
    }

    static func notChecked(
        _ check: String,
        _ message: String,
        _ action: String? = nil
    ) -> DoctorCheck {
        DoctorCheck(check: check, result: .notChecked, message: message, action: action)
    }
}

/// The results of all checks.
struct DoctorReport: Encodable {
    /// Whether nothing is wrong, ignoring warnings.
    let ok: Bool
    /// The checks, ordered so each comes after those it depends on.
    let checks: [DoctorCheck]

    init(_ checks: [DoctorCheck]) {
        self.checks = checks
        ok = !checks.contains { $0.result == .wrong }
    }

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

    /// The last line: the number of checks for each result.
    var summary: String {
        func count(_ result: DoctorCheck.Result) -> Int {
            checks.count { $0.result == result }
        }
        let warnings = count(.warning)
        return "\(count(.ok)) ok, \(counted(warnings, "warning")), \(count(.wrong)) wrong, "
            + "\(count(.notChecked)) not checked"
    }
}
