/// The result of one check of `doctor`.
package struct DoctorCheck: Encodable {
    /// What was checked, as a machine-readable word.
    package let check: String
    /// The result.
    package let result: Result
    /// What was found, or why nothing was checked.
    package let message: String
    /// What to do; nil if nothing has to be done.
    package let action: String?

    /// The result of a check.
    package enum Result: String, Encodable {
        case ok
        /// It works, but may stop working, or works worse than it could.
        case warning
        /// Something does not work.
        case wrong
        case notChecked = "not-checked"

        /// The result as text.
        package var words: String { self == .notChecked ? "not checked" : rawValue }
    }

    /// What was checked is well.
    package static func ok(_ check: String, _ message: String) -> DoctorCheck {
        DoctorCheck(check: check, result: .ok, message: message, action: nil)
    }

    /// It works, but something should be done.
    package static func warning(_ check: String, _ message: String, _ action: String) -> DoctorCheck
    {
        DoctorCheck(check: check, result: .warning, message: message, action: action)
    }

    /// Something does not work.
    package static func wrong(_ check: String, _ message: String, _ action: String?) -> DoctorCheck
    {
        DoctorCheck(check: check, result: .wrong, message: message, action: action)
    }

    /// It could not be checked.
    package static func notChecked(
        _ check: String,
        _ message: String,
        _ action: String? = nil
    ) -> DoctorCheck {
        DoctorCheck(check: check, result: .notChecked, message: message, action: action)
    }
}

/// The results of all checks.
package struct DoctorReport: Encodable {
    /// Whether nothing is wrong, ignoring warnings.
    package let ok: Bool
    /// The checks, ordered so each comes after those it depends on.
    package let checks: [DoctorCheck]

    /// The report of some checks.
    package init(_ checks: [DoctorCheck]) {
        self.checks = checks
        ok = !checks.contains { $0.result == .wrong }
    }

    /// The number of checks for each result.
    package var summary: String {
        func count(_ result: DoctorCheck.Result) -> Int {
            checks.count { $0.result == result }
        }
        let warnings = count(.warning)
        return "\(count(.ok)) ok, \(counted(warnings, "warning")), \(count(.wrong)) wrong, "
            + "\(count(.notChecked)) not checked"
    }
}
