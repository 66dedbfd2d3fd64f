import Foundation

/// How many random histories test the laws and the truth, and how they are distributed.
///
/// `SUBLEDGER_HISTORIES=200000 make laws` sets the number for each test; if unset, a test uses its
/// number for CI. The number of a history is its seed: a failure names it, and it reproduces the
/// history on every machine.
package enum Histories {
    /// The histories of a test: as many as the environment sets, by default the given number.
    package static func numbers(unlessTold count: Int) -> Range<Int> {
        let told = ProcessInfo.processInfo.environment["SUBLEDGER_HISTORIES"]
        return 0..<(told.flatMap(Int.init) ?? count)
    }

    /// Runs a body for each number, as many at once as there are threads; collects what it finds.
    ///
    /// Stops if one throws. The results are in no particular order.
    package static func each(
        _ numbers: Range<Int>,
        _ body: @escaping @Sendable (Int) throws -> [String]
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: chunk) {
                group.addTask {
                    try (first..<min(first + chunk, numbers.upperBound)).flatMap(body)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// The number of differences, and the first of them.
    package static func summary(_ differences: [String]) -> String {
        "\(differences.count) differences, the first:\n"
            + differences.prefix(3).joined(separator: "\n")
    }

    // Enough to keep a task busy, few enough to keep all threads busy until the end.
    private static let chunk = 50
}
