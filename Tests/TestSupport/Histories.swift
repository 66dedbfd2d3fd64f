import Foundation

/// How many random histories the laws and the truth are held against, and how they are shared out.
///
/// `SUBLEDGER_HISTORIES=200000 make laws` asks for as many of each; unset, a test takes the number
/// it has for CI. Histories are numbered, and the number is the seed: a failure names it, and the
/// history comes back on every machine.
public enum Histories {
    /// The histories of a test: those asked for by the environment, else the first of that many.
    public static func numbers(unlessTold count: Int) -> Range<Int> {
        let told = ProcessInfo.processInfo.environment["SUBLEDGER_HISTORIES"]
        return 0..<(told.flatMap(Int.init) ?? count)
    }

    /// Runs a body for each number, as many at once as there are threads; gathers what it finds.
    ///
    /// Stops where one throws. The order of what is found is of no meaning.
    public static func each(
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

    /// How many differences there are, and the first of them.
    public static func summary(_ differences: [String]) -> String {
        "\(differences.count) differences, the first:\n"
            + differences.prefix(3).joined(separator: "\n")
    }

    // Enough to keep a task busy, few enough to keep all threads so to the end.
    private static let chunk = 50
}
