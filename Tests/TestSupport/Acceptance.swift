import Foundation

/// The two gates: `make test`, before every commit, and `make acceptance`, before a release.
///
/// `make test` holds every promise with nothing installed but PostgreSQL. What needs further servers
/// or tools, all layouts of the tables or long runs is left to `make acceptance`, which installs what
/// it needs; each such test has a short form in `make test`. Tests/README.md lists them.
package enum Acceptance {
    /// Whether `make acceptance` runs: it sets SUBLEDGER_ACCEPTANCE.
    package static let isRunning =
        ProcessInfo.processInfo.environment["SUBLEDGER_ACCEPTANCE"] == "1"

    /// The number that a variable sets, or that of this gate.
    package static func count(_ variable: String, test: Int, acceptance: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
            ?? (isRunning ? acceptance : test)
    }

    /// The seeds of a random law: that many for acceptance, a third before every commit.
    package static func seeds(_ count: UInt64) -> ClosedRange<UInt64> {
        1...(isRunning ? count : count / 3)
    }
}
